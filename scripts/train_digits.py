"""Trains the network of examples/digits and saves its weights.

    pip install numpy safetensors
    python3 scripts/train_digits.py

It reads examples/digits/data/digits.csv.gz and writes digits.safetensors beside
it: a multilayer perceptron 64-64-32-10 with ReLU between the layers, inputs
divided by 16, float32, weights laid out [in, out]. Every fifth row (0, 5, 10, …)
is held out and takes no part in training; the program makes the same split.
The random numbers are seeded, so that the accuracy can be reproduced.
"""

import pathlib

import numpy as np
from safetensors.numpy import save_file

DATA = pathlib.Path(__file__).parent.parent / "examples" / "digits" / "data"
SIZES = [64, 64, 32, 10]
EPOCHS, BATCH, RATE, DECAY = 120, 64, 2e-3, 1e-4


def forward(params, x):
    """Returns the inputs of every layer and the logits."""
    inputs = []
    for i in range(len(SIZES) - 1):
        inputs.append(x)
        x = x @ params[2 * i] + params[2 * i + 1]
        if i < len(SIZES) - 2:
            x = np.maximum(x, 0)
    return inputs, x


def gradients(params, x, y):
    """Returns the gradients of the mean cross-entropy."""
    inputs, logits = forward(params, x)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(y)), y] -= 1
    d = p / len(y)
    out = [None] * len(params)
    for i in reversed(range(len(inputs))):
        out[2 * i] = inputs[i].T @ d
        out[2 * i + 1] = d.sum(axis=0)
        if i > 0:
            d = (d @ params[2 * i].T) * (inputs[i] > 0)
    return out


def accuracy(params, x, y):
    return float(np.mean(forward(params, x)[1].argmax(axis=1) == y))


def main():
    rows = np.loadtxt(DATA / "digits.csv.gz", delimiter=",", dtype=np.int64)
    x, y = (rows[:, :64] / 16).astype(np.float32), rows[:, 64]
    held_out = np.arange(len(rows)) % 5 == 0

    rng = np.random.default_rng(1)
    params = []
    for fan_in, fan_out in zip(SIZES, SIZES[1:]):
        params.append((rng.standard_normal((fan_in, fan_out)) * np.sqrt(2 / fan_in)).astype(np.float32))
        params.append(np.zeros(fan_out, np.float32))

    # Adam with decoupled weight decay; the rate falls along a cosine.
    first = [np.zeros_like(p) for p in params]
    second = [np.zeros_like(p) for p in params]
    train_x, train_y = x[~held_out], y[~held_out]
    steps = EPOCHS * (len(train_y) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(train_y))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            pick = order[start : start + BATCH]
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for p, g, m, v in zip(params, gradients(params, train_x[pick], train_y[pick]), first, second):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                update = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
                p -= (rate * (update + DECAY * p)).astype(np.float32)

    names = [f"net.{i // 2}.{'bias' if i % 2 else 'weight'}" for i in range(len(params))]
    save_file(dict(zip(names, params)), DATA / "digits.safetensors")
    print(f"training {accuracy(params, train_x, train_y):.4f}")
    right = round(accuracy(params, x[held_out], y[held_out]) * held_out.sum())
    print(f"held out {right / held_out.sum():.4f} ({right} of {held_out.sum()})")
    top = np.sort(forward(params, x[held_out])[1], axis=1)
    print(f"smallest margin between the two best logits {(top[:, -1] - top[:, -2]).min():.4f}")


if __name__ == "__main__":
    main()
