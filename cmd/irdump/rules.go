package main

import (
	"fmt"
	"io"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/optimize"
)

// rule is a named reason for keeping operations apart.
type rule struct {
	Name   string `json:"rule"`
	By     string `json:"by"`     // "fuser" or "planner"
	Profit bool   `json:"profit"` // a matter of cost, not of correctness
	Doc    string `json:"doc"`
}

// rules returns every rule, the fusers' first.
func rules() []rule {
	var out []rule
	for _, r := range fuser.Rules {
		out = append(out, rule{string(r.Rule), "fuser", r.Profit, r.Doc})
	}
	for _, r := range optimize.Rules {
		out = append(out, rule{string(r.Rule), "planner", r.Profit, r.Doc})
	}
	return out
}

// explain returns what the rule or the pass of a name stands for. Of a name
// that a user's fuser invented nothing is known.
func explain(name string) rule {
	for _, r := range rules() {
		if r.Name == name {
			return r
		}
	}
	for _, p := range optimize.Passes {
		if p.Name == name {
			return rule{Name: name, By: "pass", Doc: p.Doc}
		}
	}
	return rule{Name: name}
}

// Run prints the rules.
func (c *rulesCmd) Run(s *streams) error {
	if c.JSON {
		return writeJSON(s.out, map[string]any{"rules": rules()})
	}
	return table(s.out, func(w io.Writer) {
		for _, r := range rules() {
			kind := "legality"
			if r.Profit {
				kind = "profit"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, r.By, kind, r.Doc)
		}
	})
}

// help is a named thing with its explanation.
type help struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// Run prints the fusers' help.
func (c *fusersCmd) Run(s *streams) error {
	var all []help
	for _, f := range fuser.Default() {
		all = append(all, help{f.Name, f.Doc})
	}
	all = append(all, help{fuser.HorizontalName, fuser.HorizontalDoc})
	if c.JSON {
		return writeJSON(s.out, map[string]any{"fusers": all})
	}
	for i, f := range all {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		fmt.Fprintln(s.out, f.Doc)
	}
	return nil
}

// Run prints the passes in the order they run.
func (c *passesCmd) Run(s *streams) error {
	var all []help
	for _, p := range optimize.Passes {
		all = append(all, help{p.Name, p.Doc})
	}
	if c.JSON {
		return writeJSON(s.out, map[string]any{"passes": all})
	}
	return table(s.out, func(w io.Writer) {
		for _, p := range all {
			fmt.Fprintf(w, "%s\t%s\n", p.Name, p.Doc)
		}
	})
}
