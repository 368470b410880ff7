// Package scale computes what an installation of some size needs from the figures of
// make bench, and from what its people ask for in the busiest hour.
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

// Figures are medians of make bench by name, in seconds, bytes and per second.
type Figures map[string]float64

// line is how make bench prints a figure: its name and the median with its unit.
var line = regexp.MustCompile(`^\s*([a-z][a-z0-9-]*)\s+([0-9.]+)(k|M)? (s|ms|µs|B|kB|MiB|grants/s)(?:\s|$)`)

// units turn a figure into seconds, bytes or a rate.
var units = map[string]float64{
	"s": 1, "ms": 1e-3, "µs": 1e-6, "B": 1, "kB": 1e3, "MiB": 1 << 20, "grants/s": 1, "k": 1e3, "M": 1e6, "": 1,
}

// Read reads the figures of what make bench has printed. Other lines are passed over, and
// of a figure that is there twice the first counts.
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

// Names of the figures that are used.
const (
	getWeek      = "get-week"
	readSchedule = "read-standalone"
	logIns       = "password-grants"
	changeEach   = "million"
	storageEach  = "storage"
	logEach      = "wal"
	peak         = "memory"
)

// Load is what the people of an installation ask for in the busiest hour, for each
// employee.
type Load struct {
	Weeks   float64 `default:"2" help:"Reads of one's own week by each employee."`
	LogIns  float64 `default:"0.5" help:"Log-ins with a password by each employee."`
	Planned float64 `default:"4" help:"How often a planner reads the month of each employee."`
	Changed float64 `default:"0.1" help:"Share of the employees to whom a change of their rotation is applied."`
}

const (
	// benchCores is on how many cores the figures were measured that use all of them.
	benchCores = 2
	// busy is the share of the processors that the busiest hour may take.
	busy = 0.5
	// schedules is how many employees the figure of reading schedules reads at once.
	schedules = 500
	// instanceCores is how large one process is planned.
	instanceCores = 2
	// programs have two processes at least, so that one may be replaced.
	programs, atLeast = 7, 2
	// connections is how many a process opens at most unless it is set otherwise.
	connections = 16
)

// Size is what an installation needs.
type Size struct {
	Employees int
	// Requests in a second of the busiest hour.
	Requests float64
	// AuthCores are those of log-ins, whose hashes are slow on purpose; OtherCores those
	// of everything else, PostgreSQL included.
	AuthCores, OtherCores float64
	// Instances of all programs together, and Connections of them to PostgreSQL at most.
	Instances, Connections int
	// Memory of the instances, in bytes, when each takes as much as the largest.
	Memory float64
	// Storage of all databases without the past and the trails, and Log of a change that
	// concerns everybody, in bytes.
	Storage, Log float64
	// ChangeOfAll is how long such a change takes on two cores, in seconds.
	ChangeOfAll float64
}

// Of computes what an installation of so many employees needs.
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

// Sizes are those of the table.
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
	row("write-ahead log of a change of everybody", func(s Size) string { return bytes(s.Log) })
	row("a change of everybody, on two cores", func(s Size) string { return number(s.ChangeOfAll) + " s" })
	return failure
}

// number has two digits that count.
func number(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// bytes is a size in the unit that suits it.
func bytes(v float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if v < 1000 {
			return number(v) + " " + unit
		}
		v /= 1000
	}
	return number(v) + " TB"
}
