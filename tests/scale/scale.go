// Package scale computes the requirements of an installation of some size from the figures of make
// bench and the requests of its users in the busiest hour.
package scale

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Figures are medians of make bench by name, in seconds, bytes or per second.
type Figures map[string]float64

// line matches a figure in the output of make bench: its name and the median with its unit.
var line = regexp.MustCompile(`^\s*([a-z][a-z0-9-]*)\s+([0-9.]+)(k|M)? (s|ms|µs|B|kB|MiB|grants/s)(?:\s|$)`)

// units convert a figure into seconds, bytes or a rate.
var units = map[string]float64{
	"s": 1, "ms": 1e-3, "µs": 1e-6, "B": 1, "kB": 1e3, "MiB": 1 << 20, "grants/s": 1, "k": 1e3, "M": 1e6, "": 1,
}

// Read reads the figures in the output of make bench. It ignores other lines, and later occurrences
// of the same figure.
func Read(r io.Reader) (Figures, error) {
	figures := Figures{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		value, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m[1], err)
		}
		if _, there := figures[m[1]]; !there {
			figures[m[1]] = value * units[m[3]] * units[m[4]]
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	for _, name := range []string{getWeek, readSchedule, logIns, changeEach, storageEach, logEach, peak} {
		if figures[name] <= 0 {
			return nil, fmt.Errorf("the figure %s of make bench is missing", name)
		}
	}
	return figures, nil
}

// Names of the figures that the computation uses.
const (
	getWeek      = "get-week"
	readSchedule = "read-standalone"
	logIns       = "password-grants"
	changeEach   = "million"
	storageEach  = "storage"
	logEach      = "wal"
	peak         = "memory"
)

// Load is the number of requests in the busiest hour, for each employee.
type Load struct {
	Weeks   float64 `default:"2" help:"Reads of one's own week by each employee."`
	LogIns  float64 `default:"0.5" help:"Log-ins with a password by each employee."`
	Planned float64 `default:"4" help:"How often a planner reads the month of each employee."`
	Changed float64 `default:"0.1" help:"Share of the employees to whom a change of their rotation is applied."`
}

const (
	// benchCores is the number of cores for the figures that use all cores.
	benchCores = 2
	// busy is the share of the processors that the busiest hour may use.
	busy = 0.5
	// schedules is the number of employees in the figure of reading schedules.
	schedules = 500
	// instanceCores is the planned size of one process.
	instanceCores = 2
	// programs have at least two processes, so that one can be replaced.
	programs, atLeast = 7, 2
	// connections is the default limit of connections of a process.
	connections = 16
)

// Size holds the requirements of an installation.
type Size struct {
	Employees int
	// Requests is the number of requests per second in the busiest hour.
	Requests float64
	// AuthCores are the cores for log-ins, with their deliberately slow hashes; OtherCores those
	// for everything else, including PostgreSQL.
	AuthCores, OtherCores float64
	// Instances is the number of processes of all programs, and Connections the largest number of
	// their connections to PostgreSQL.
	Instances, Connections int
	// Memory is the memory of the instances in bytes, if each needs as much as the largest.
	Memory float64
	// Storage is the size of all databases without history and audit logs, and Log the write-ahead
	// log of a change for all employees, in bytes.
	Storage, Log float64
	// ChangeOfAll is the duration of such a change on two cores, in seconds.
	ChangeOfAll float64
}

// Of computes the requirements of an installation with that many employees.
func (f Figures) Of(employees int, l Load) Size {
	n := float64(employees)
	s := Size{
		Employees: employees, Requests: n * (l.Weeks + l.LogIns + l.Planned/schedules) / 3600,
		Storage: n * f[storageEach], Log: n * f[logEach], ChangeOfAll: n * f[changeEach],
	}
	hour := 3600 * busy
	s.AuthCores = n * l.LogIns * benchCores / f[logIns] / hour
	s.OtherCores = n * (l.Weeks*f[getWeek] + l.Planned*benchCores*f[readSchedule]/schedules + l.Changed*benchCores*f[changeEach]) / hour
	needed := func(cores float64, least int) int { return max(least, int(math.Ceil(cores/instanceCores))) }
	s.Instances = needed(s.AuthCores, atLeast) + needed(s.OtherCores, (programs-1)*atLeast)
	s.Connections = s.Instances * connections
	s.Memory = float64(s.Instances) * f[peak]
	return s
}

// Sizes are the sizes in the table.
var Sizes = []int{1_000, 100_000, 1_000_000, 10_000_000}

// Write writes the table as Markdown.
func (f Figures) Write(out io.Writer, l Load) error {
	var failure error
	row := func(name string, value func(Size) string) {
		cells := []string{name}
		for _, employees := range Sizes {
			cells = append(cells, value(f.Of(employees, l)))
		}
		if failure == nil {
			_, failure = fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	row("employees", func(s Size) string { return fmt.Sprint(s.Employees) })
	row("---", func(Size) string { return "---:" })
	row("requests a second in the busiest hour", func(s Size) string { return number(s.Requests) })
	row("cores for log-ins (auth)", func(s Size) string { return number(s.AuthCores) })
	row("cores for the rest, PostgreSQL included", func(s Size) string { return number(s.OtherCores) })
	row("instances of two cores, two of each program at least", func(s Size) string { return fmt.Sprint(s.Instances) })
	row("their memory, at most", func(s Size) string { return bytes(s.Memory) })
	row("their connections to PostgreSQL, at most", func(s Size) string { return fmt.Sprint(s.Connections) })
	row("storage without the past", func(s Size) string { return bytes(s.Storage) })
	row("write-ahead log of a change that affects all employees", func(s Size) string { return bytes(s.Log) })
	row("a change that affects all employees, on two cores", func(s Size) string { return number(s.ChangeOfAll) + " s" })
	return failure
}

// number formats a number with two significant digits.
func number(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// bytes formats a size in a suitable unit.
func bytes(v float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if v < 1000 {
			return number(v) + " " + unit
		}
		v /= 1000
	}
	return number(v) + " TB"
}
