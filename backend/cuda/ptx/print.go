package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints the module as PTX that Parse reads back into an equal module,
// apart from the lines. Scopes are flattened, comments are lost.
func (m *Module) String() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, ".version %d.%d\n", m.Version.Major, m.Version.Minor)
	if m.Target != "" {
		fmt.Fprintf(w, ".target %s\n", strings.Join(append([]string{m.Target}, m.Options...), ", "))
	}
	fmt.Fprintf(w, ".address_size %d\n\n", m.AddressSize)
	for _, d := range m.Globals {
		fmt.Fprintf(w, "%s;\n", d)
	}
	for _, f := range m.early() {
		w.WriteString(f.head())
		w.WriteString(";\n")
	}
	for _, f := range m.Funcs {
		f.print(w)
	}
	return w.String()
}

// early returns the functions that are named before they are defined, in the
// order of first naming.
func (m *Module) early() (out []*Func) {
	defined := map[string]bool{}
	for _, f := range m.Funcs {
		defined[f.Name] = true
		use := func(name string) {
			if name != "" && !defined[name] {
				defined[name] = true
				out = append(out, m.Func(name))
			}
		}
		for _, t := range f.Tables {
			for _, name := range t.Funcs {
				use(name)
			}
		}
		for i := range f.Body {
			in := &f.Body[i]
			if in.Call != nil && in.Call.Target.Kind == Sym {
				use(in.Call.Target.Sym)
			}
			for j := range in.Src {
				if o := &in.Src[j]; o.Kind == Sym && o.Var == nil {
					use(o.Sym)
				}
			}
		}
	}
	return out
}

// String prints the declaration without its semicolon.
func (d *Decl) String() string {
	w := &strings.Builder{}
	if d.Linkage != Internal {
		fmt.Fprintf(w, ".%s ", d.Linkage)
	}
	fmt.Fprintf(w, ".%s ", d.Space)
	if d.Align != d.Type.Bytes()*max(d.Vec, 1) {
		fmt.Fprintf(w, ".align %d ", d.Align)
	}
	if d.Vec > 0 {
		fmt.Fprintf(w, ".v%d ", d.Vec)
	}
	fmt.Fprintf(w, ".%s ", d.Type)
	if d.Pointer {
		w.WriteString(".ptr ")
		if d.PtrTo != Generic {
			fmt.Fprintf(w, ".%s ", d.PtrTo)
		}
		if d.PtrAlign != 0 {
			fmt.Fprintf(w, ".align %d ", d.PtrAlign)
		}
	}
	w.WriteString(d.Name)
	if d.Array {
		w.WriteByte('[')
		if n := d.Size / (d.Type.Bytes() * max(d.Vec, 1)); n > 0 {
			fmt.Fprint(w, n)
		}
		w.WriteByte(']')
	}
	if len(d.Init) > 0 {
		w.WriteString(" = ")
		w.WriteString(d.initial())
	}
	return w.String()
}

func (d *Decl) initial() string {
	size := d.Type.Bytes()
	relocs := map[int]Reloc{}
	for _, r := range d.Relocs {
		relocs[r.Offset] = r
	}
	var parts []string
	for at := 0; at+size <= len(d.Init); at += size {
		if r, ok := relocs[at]; ok {
			s := r.Symbol
			if r.Generic {
				s = "generic(" + s + ")"
			}
			parts = append(parts, s+offsetText(r.Addend))
			continue
		}
		var v uint64
		for i := size - 1; i >= 0; i-- {
			v = v<<8 | uint64(d.Init[at+i])
		}
		parts = append(parts, strconv.FormatUint(v, 10))
	}
	if !d.Array && d.Vec == 0 {
		return parts[0]
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func offsetText(v int64) string {
	if v == 0 {
		return ""
	}
	return "+" + strconv.FormatInt(v, 10)
}

func declList(list []*Decl) string {
	parts := make([]string, len(list))
	for i, d := range list {
		parts[i] = d.String()
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// head prints the function up to its parameters and directives.
func (f *Func) head() string {
	w := &strings.Builder{}
	if f.Linkage != Internal {
		fmt.Fprintf(w, ".%s ", f.Linkage)
	}
	if f.Entry {
		w.WriteString(".entry ")
	} else {
		w.WriteString(".func ")
		if f.Returns != nil {
			w.WriteString(declList(f.Returns) + " ")
		}
	}
	w.WriteString(f.Name)
	if f.Params != nil {
		w.WriteString(declList(f.Params))
	}
	if f.NoReturn {
		w.WriteString(" .noreturn")
	}
	return w.String()
}

func (f *Func) print(w *strings.Builder) {
	w.WriteString(f.head())
	if !f.Defined {
		w.WriteString(";\n")
		return
	}
	for _, d := range f.Directives {
		if d.Name == "pragma" {
			continue
		}
		w.WriteString("\n." + d.Name)
		for i, a := range d.Args {
			w.WriteString([]string{" ", ", "}[min(i, 1)])
			w.WriteString(strconv.Itoa(a))
		}
	}
	w.WriteString("\n{\n")
	for _, d := range f.Directives {
		if d.Name == "pragma" {
			fmt.Fprintf(w, "\t.pragma \"%s\";\n", d.Text)
		}
	}
	for _, r := range f.Regs {
		fmt.Fprintf(w, "\t.reg .%s %s", r.Type, r.Name)
		if r.Count > 0 {
			fmt.Fprintf(w, "<%d>", r.Count)
		}
		w.WriteString(";\n")
	}
	for _, d := range f.Vars {
		fmt.Fprintf(w, "\t%s;\n", d)
	}
	for _, t := range f.Tables {
		if t.Funcs != nil {
			fmt.Fprintf(w, "%s: .calltargets %s;\n", t.Name, strings.Join(t.Funcs, ", "))
			continue
		}
		names := make([]string, len(t.Labels))
		for i, l := range t.Labels {
			names[i] = f.Labels[l].Name
		}
		fmt.Fprintf(w, "%s: .branchtargets %s;\n", t.Name, strings.Join(names, ", "))
	}
	for _, p := range f.Protos {
		fmt.Fprintf(w, "%s: .callprototype ", p.Name)
		if p.Returns != nil {
			w.WriteString(declList(p.Returns) + " ")
		}
		fmt.Fprintf(w, "_ %s;\n", declList(p.Params))
	}
	labels := f.Labels
	for i := range f.Body {
		for len(labels) > 0 && labels[0].Pos == i {
			w.WriteString(labels[0].Name + ":\n")
			labels = labels[1:]
		}
		w.WriteString("\t")
		f.printInstr(w, &f.Body[i])
		w.WriteString("\n")
	}
	for _, l := range labels {
		w.WriteString(l.Name + ":\n")
	}
	w.WriteString("}\n")
}

// Format prints one instruction of the function's body, with its semicolon.
func (f *Func) Format(in *Instr) string {
	w := &strings.Builder{}
	f.printInstr(w, in)
	return w.String()
}

func (f *Func) printInstr(w *strings.Builder, in *Instr) {
	if in.Pred >= 0 {
		w.WriteByte('@')
		if in.Neg {
			w.WriteByte('!')
		}
		w.WriteString(f.RegName(int32(in.Pred)) + " ")
	}
	w.WriteString(in.Name)
	sep := " "
	if in.Call != nil {
		f.printCall(w, in.Call)
	}
	for i := range in.Dst {
		w.WriteString(sep)
		f.printOperand(w, &in.Dst[i])
		sep = "|"
	}
	if sep == "|" {
		sep = ", "
	}
	for i := range in.Src {
		w.WriteString(sep)
		f.printOperand(w, &in.Src[i])
		sep = ", "
	}
	w.WriteByte(';')
}

func (f *Func) printCall(w *strings.Builder, c *Call) {
	list := func(all []*Decl) string {
		names := make([]string, len(all))
		for i, d := range all {
			names[i] = d.Name
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	w.WriteByte(' ')
	if c.Returns != nil {
		w.WriteString(list(c.Returns) + ", ")
	}
	f.printOperand(w, &c.Target)
	if c.Args != nil || c.Table != "" {
		w.WriteString(", " + list(c.Args))
	}
	if c.Table != "" {
		w.WriteString(", " + c.Table)
	}
}

func (f *Func) printList(w *strings.Builder, elems []Operand) {
	w.WriteByte('{')
	for i := range elems {
		if i > 0 {
			w.WriteString(", ")
		}
		f.printOperand(w, &elems[i])
	}
	w.WriteByte('}')
}

func (f *Func) printOperand(w *strings.Builder, o *Operand) {
	switch o.Kind {
	case Reg:
		if o.Neg {
			w.WriteByte('!')
		}
		w.WriteString(f.RegName(o.Reg))
	case Imm:
		w.WriteString(strconv.FormatInt(int64(o.Bits), 10))
	case ImmF32:
		fmt.Fprintf(w, "0f%08X", o.Bits)
	case ImmF64:
		fmt.Fprintf(w, "0d%016X", o.Bits)
	case Special:
		w.WriteString(o.Special.String())
	case Sym:
		w.WriteString(o.Sym + offsetText(o.Off))
	case Vec:
		f.printList(w, o.Elems)
	case LabelRef:
		w.WriteString(f.Labels[o.Index].Name)
	case TableRef:
		w.WriteString(f.Tables[o.Index].Name)
	case Discard:
		w.WriteByte('_')
	case Addr:
		w.WriteByte('[')
		switch o.Base {
		case Reg:
			w.WriteString(f.RegName(o.Reg) + offsetText(o.Off))
		case Sym:
			w.WriteString(o.Sym + offsetText(o.Off))
		default:
			w.WriteString(strconv.FormatInt(o.Off, 10))
		}
		if o.Elems != nil {
			w.WriteByte(',')
			f.printList(w, o.Elems)
		}
		w.WriteByte(']')
	}
}
