"""Writes reference.json: texts and their ids by the reference tokenizer.

    pip install tokenizers
    python3 make.py DIR    # DIR holds vocab.txt, see scripts/models.sh
"""

import json
import pathlib
import random
import sys

from tokenizers import BertWordPieceTokenizer

TEXTS = [
    "ÀÉÎÕÜ ñ ç å \u212b \u2126 \u212a ﬁ ß ẞ İstanbul ıI ŁØĐ",
    "e\u0301 o\u0308\u0304 a\u030a\u0301 q\u0323\u0307 ᾭ Ǖ ệ",
    "Привет, Йод ёлка Ї Ѓ",
    "Ελληνικά ΣΊΣΥΦΟΣ ς ΐ ᾧ",
    "한국어 걟 각 가 힣 ㄱ",
    "日本語が話せます。ガギグ パ ヴ",
    "你好ab世c界 \uf900\uf901 \U00020000\U0002a700\U0002f800 㐀",
    "עִבְרִית شُكْرًا हिन्दी किताब ไทย",
    "a\u00adb\u200bc\u200dd\ufeffe\ue000f\u0007g\u0000h\ufffdi",
    "tab\tnew\nline\rreturn\u00a0nbsp\u2003em\u2028ls\u3000ideo\u0085nel\u000bvt",
    "don't stop--now... (a+b)*c=d; x_y@z #1 $2 %3 ^4 &5 ~6 `7 |8 <9> {0} [1] \\2 /3",
    "“quoted” ‘single’ «guillemets» – — … ¿qué? ¡sí! · § ¶ † • ‰ € £ ¥ © ® ™ ° ± × ÷",
    "👍 😀🏽 ❤️ 🇩🇪 👨‍👩‍👧",
    "x" * 100 + " " + "x" * 101 + " y",
    "é" * 100 + " " + "é" * 101,
    "unaffable embeddings embeddings' tokenization's",
    "3.14159 1e-10 0xFF 12:30 2024-01-31 ½ ² Ⅷ ١٢٣",
    " \t\n ",
    "the " * 300,
    "antidisestablishmentarianism " * 60,
    "a" * 99 + "." + "b" * 100,
]


def main():
    tokenizer = BertWordPieceTokenizer(sys.argv[1] + "/vocab.txt", lowercase=True)
    tokenizer.enable_truncation(256)
    # Letters, marks and symbols that no version of Unicode since 8 changed.
    pool = [chr(c) for a, b in [(0x20, 0x250), (0x300, 0x378), (0x391, 0x3A2), (0x400, 0x480), (0x1E00, 0x1F16),
                                (0x2010, 0x2065), (0x3041, 0x3097), (0xAC00, 0xAC80)] for c in range(a, b)]
    vocabulary = [t.removeprefix("##") for t in tokenizer.get_vocab() if not t.startswith("[")]
    vocabulary.sort()
    rng = random.Random(1)
    texts = list(TEXTS)
    for _ in range(60):
        sources = rng.choices([pool, vocabulary, [" "]], weights=[2, 3, 2], k=rng.randint(1, 25))
        texts.append("".join(rng.choice(s) for s in sources))
    cases = [{"text": t, "ids": tokenizer.encode(t).ids} for t in texts]
    out = pathlib.Path(__file__).with_name("reference.json")
    out.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


main()
