package harness

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Figure is one line of the table.
type Figure struct {
	Name string
	Unit string
	// Measured and Baseline are the samples; Baseline is empty for a figure with an absolute
	// target.
	Measured, Baseline Sample
	// AtMost and AtLeast bound the ratio of measured to baseline, or the measured value if there is
	// no baseline; 0 means no bound. A figure without bounds is only informative.
	AtMost, AtLeast float64
	// Note describes the measurement.
	Note string
	// NotMeasured is the reason why this machine cannot measure the figure. Such a figure neither
	// meets nor misses its target.
	NotMeasured string
}

// Group is a set of figures that are measured on the same processes.
type Group struct {
	Names []string
	Run   func(*Host, Options) ([]Figure, error)
}

func (f *Figure) value() float64 {
	if len(f.Baseline) == 0 {
		return f.Measured.median()
	}
	return f.Measured.median() / f.Baseline.median()
}

// isMet reports whether the figure does not miss its target.
func (f *Figure) isMet() bool {
	if f.NotMeasured != "" {
		return true
	}
	v := f.value()
	return v > 0 && (f.AtMost == 0 || v <= f.AtMost) && v >= f.AtLeast
}

func (f *Figure) target() string {
	unit := ""
	if len(f.Baseline) == 0 {
		unit = " " + f.Unit
	}
	if f.AtMost == 0 && f.AtLeast == 0 {
		return "none"
	}
	if f.AtMost > 0 {
		return fmt.Sprintf("<= %g%s", f.AtMost, unit)
	}
	return fmt.Sprintf(">= %g%s", f.AtLeast, unit)
}

func (f *Figure) row() string {
	if f.NotMeasured != "" {
		return fmt.Sprintf("%s\tnot measured\t-\t-\t%s\t-\t%s", f.Name, f.target(), f.NotMeasured)
	}
	baseline, ratio, verdict := "-", "-", "FAIL"
	if len(f.Baseline) > 0 {
		baseline, ratio = f.Baseline.text(f.Unit), fmt.Sprintf("%.2f", f.value())
	}
	if f.isMet() {
		verdict = "pass"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", f.Name, f.Measured.text(f.Unit), baseline, ratio, f.target(), verdict, f.Note)
}

// WriteTable prints the table and reports whether every target is met.
func WriteTable(out io.Writer, figures []Figure) (bool, error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tmeasured\tbaseline\tratio\ttarget\t\tnote")
	all := len(figures) > 0
	for i := range figures {
		fmt.Fprintln(w, figures[i].row())
		all = all && figures[i].isMet()
	}
	return all, w.Flush()
}
