package sinter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/optimize"
)

// WithPasses adds passes that rewrite what was recorded before it is fused; see
// optimize.Replace.
func WithPasses(p ...optimize.Pass) Option {
	return func(c *config) { c.fusion.Optimize.Extra = append(c.fusion.Optimize.Extra, p...) }
}

// WithoutFusers leaves out fusers by name, such as "matmul" or "horizontal"; see
// "irdump fusers". Results are the same bit for bit.
func WithoutFusers(names ...string) Option {
	return func(c *config) { c.noFusers = append(c.noFusers, names...) }
}

// WithoutPasses leaves out passes by name, such as "cse"; see "irdump passes".
// Results are the same bit for bit.
func WithoutPasses(names ...string) Option {
	return func(c *config) {
		c.fusion.Optimize.Disable = append(c.fusion.Optimize.Disable, names...)
	}
}

// WithoutRules switches off rules that keep operations apart because fusing them
// would cost more than it saves, such as "recompute"; see "irdump rules". What
// they refused is fused if it is legal. Results are the same bit for bit.
func WithoutRules(names ...string) Option {
	return func(c *config) { c.noRules = append(c.noRules, names...) }
}

// choose gathers the fusers and leaves out what is switched off. It returns an
// *ArgumentError for names there are not.
func (c *config) choose() error {
	fusers := slices.Concat(fuser.Default(), fuser.Registered(), c.fusion.Fusers)
	var names, passes, rules []string
	for _, s := range optimize.Switches(fusers) {
		switch s.Kind {
		case "fuser":
			names = append(names, s.Name)
		case "rule":
			rules = append(rules, s.Name)
		}
	}
	for _, p := range slices.Concat(optimize.Passes, c.fusion.Optimize.Extra) {
		passes = append(passes, p.Name)
	}
	if err := known("fuser", c.noFusers, names); err != nil {
		return err
	}
	if err := known("pass", c.fusion.Optimize.Disable, passes); err != nil {
		return err
	}
	if err := known("rule", c.noRules, rules); err != nil {
		return err
	}
	c.fusion.Optimize.Disable = slices.Concat(c.fusion.Optimize.Disable, c.noFusers, c.noRules)
	c.fusion.Fusers = nil
	if c.fuse {
		c.fusion.Fusers = slices.DeleteFunc(fusers, func(f fuser.Factory) bool { return slices.Contains(c.noFusers, f.Name) })
	}
	return nil
}

func known(what string, given, names []string) error {
	for _, name := range given {
		if !slices.Contains(names, name) {
			return &ArgumentError{Msg: fmt.Sprintf("there is no %s %q, only %s", what, name, strings.Join(names, ", "))}
		}
	}
	return nil
}
