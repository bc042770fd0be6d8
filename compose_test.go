package sinter_test

import "testing"

func composed(testing.TB) []string { return nil }
