package boot

import (
	"encoding/json"
	"io"
	"text/tabwriter"
)

// Output is the form in which a task prints what it has found. A task embeds it.
type Output struct {
	Format string `name:"output" enum:"table,json" default:"table" help:"Form of what is printed: ${enum}."`
}

// JSON reports whether programs shall read what is printed.
func (o Output) JSON() bool { return o.Format == "json" }

// Print writes value as JSON, or has rows write it for people: a line for each row, a tab
// between two columns.
func (o Output) Print(out io.Writer, value any, rows func(table io.Writer)) error {
	if o.JSON() {
		return json.NewEncoder(out).Encode(value)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows(table)
	return table.Flush()
}

// CheckFailed is the error of a task that has looked, and found what should be otherwise.
// Its exit code is 3, by which scripts distinguish it from a task that could not look.
type CheckFailed struct {
	// Found says what is wrong.
	Found string
}

func (e *CheckFailed) Error() string { return e.Found }
