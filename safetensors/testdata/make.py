"""Writes reference.safetensors with the reference implementation.

    pip install numpy safetensors
    python3 make.py

The tests read it and write the same bytes again. Element i of a tensor has the
bit pattern that file_test.go computes for it.
"""

import pathlib

import numpy as np
from safetensors import TensorSpec, serialize_file

HERE = pathlib.Path(__file__).parent


def words(n, dtype):
    return (np.arange(n, dtype=np.uint64) * 40503 + 7).astype(dtype)


ARRAYS = {
    "weight": ("float32", (3, 5), words(15, np.uint32)),
    "bias": ("float32", (5,), words(5, np.uint32)),
    "a.bf16": ("bfloat16", (2, 2, 2), words(8, np.uint16)),
    "mask": ("bool", (7,), words(7, np.uint8) % 2),
    "ids": ("int64", (1, 4), words(4, np.uint64)),
    "empty": ("float32", (0, 3), words(0, np.uint32)),
    "scalar": ("float32", (), words(1, np.uint32)),
    "naïve <\"\\> 名": ("int64", (2,), words(2, np.uint64)),
}

serialize_file(
    {
        name: TensorSpec(dtype=dtype, shape=shape, data_ptr=data.ctypes.data, data_len=data.nbytes)
        for name, (dtype, shape, data) in ARRAYS.items()
    },
    HERE / "reference.safetensors",
    {"format": "pt"},
)
