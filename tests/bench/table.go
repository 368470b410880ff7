package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// figure is one line of the table.
type figure struct {
	name string
	unit string
	// baseline is empty for a figure with a target of its own.
	measured, baseline sample
	// atMost and atLeast bound the ratio of measured to baseline, or measured itself
	// without a baseline; 0 for no such bound. Without either it is there to be compared with.
	atMost, atLeast float64
	// note says what the figure stands on.
	note string
}

func (f *figure) value() float64 {
	if len(f.baseline) == 0 {
		return f.measured.median()
	}
	return f.measured.median() / f.baseline.median()
}

func (f *figure) met() bool {
	v := f.value()
	return v > 0 && (f.atMost == 0 || v <= f.atMost) && v >= f.atLeast
}

func (f *figure) target() string {
	unit := ""
	if len(f.baseline) == 0 {
		unit = " " + f.unit
	}
	if f.atMost == 0 && f.atLeast == 0 {
		return "none"
	}
	if f.atMost > 0 {
		return fmt.Sprintf("<= %g%s", f.atMost, unit)
	}
	return fmt.Sprintf(">= %g%s", f.atLeast, unit)
}

func (f *figure) row() string {
	baseline, ratio, verdict := "-", "-", "FAIL"
	if len(f.baseline) > 0 {
		baseline, ratio = f.baseline.text(f.unit), fmt.Sprintf("%.2f", f.value())
	}
	if f.met() {
		verdict = "pass"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", f.name, f.measured.text(f.unit), baseline, ratio, f.target(), verdict, f.note)
}

// write prints the table and reports whether every target is met.
func write(out io.Writer, figures []figure) (bool, error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tmeasured\tbaseline\tratio\ttarget\t\tnote")
	all := len(figures) > 0
	for i := range figures {
		fmt.Fprintln(w, figures[i].row())
		all = all && figures[i].met()
	}
	return all, w.Flush()
}
