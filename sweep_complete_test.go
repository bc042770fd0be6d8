package sinter_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every exported function that takes or returns a tensor is swept, here or by
// the tests of what it belongs to.
func TestSweepIsComplete(t *testing.T) {
	swept := map[string]bool{}
	for name := range sweepFunctions {
		swept[name] = true
	}
	for name := range makers {
		swept[name] = true
	}
	for name := range sweepElsewhere {
		require.False(t, swept[name], "%s is swept here", name)
		swept[name] = true
	}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || !mentions(f, "Tensor", "QTensor") {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				receiver := strings.TrimPrefix(fmt.Sprint(typeName(f.Recv.List[0].Type)), "*")
				if receiver == "Tensor" {
					continue // by reflection
				}
				name = receiver + "." + name
			}
			seen[name] = true
			assert.True(t, swept[name], "%s in %s is not swept", name, e.Name())
		}
	}
	for name := range sweepElsewhere {
		assert.True(t, seen[name], "there is no %s", name)
	}
}

// mentions reports whether the signature of a function has one of the types.
func mentions(f *ast.FuncDecl, names ...string) bool {
	found := false
	look := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && slices.Contains(names, id.Name) {
			found = true
		}
		return !found
	}
	ast.Inspect(f.Type, look)
	return found
}

// typeName is the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.Ident:
		return x.Name
	case *ast.IndexExpr:
		return typeName(x.X)
	}
	return ""
}
