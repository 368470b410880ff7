package boot

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// outputFlag is the flag of Output. Every command that prints has it, with this name.
const outputFlag = "output"

// Output is the output format of a task. A task embeds it.
type Output struct {
	Format string `name:"output" enum:"table,json" default:"table" help:"Output format: ${enum}."`
}

// JSON reports whether the output is for programs.
func (o Output) JSON() bool { return o.Format == "json" }

// Print writes value as JSON, or calls rows to write a table for people: one line for each row,
// with tabs between columns.
func (o Output) Print(out io.Writer, value any, rows func(table io.Writer)) error {
	if o.JSON() {
		return json.NewEncoder(out).Encode(value)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows(table)
	return table.Flush()
}

// PrintLine writes value as JSON, or a line of text for people.
func (o Output) PrintLine(out io.Writer, value any, format string, args ...any) error {
	return o.Print(out, value, func(line io.Writer) { fmt.Fprintf(line, format+"\n", args...) })
}

// CheckFailed is the error of a check that found a problem. Its exit code is 3, so that scripts can
// tell it from a check that could not run.
type CheckFailed struct {
	// Found describes the problem.
	Found string
}

func (e *CheckFailed) Error() string { return e.Found }
