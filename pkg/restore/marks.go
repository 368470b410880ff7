package restore

import (
	"maps"
	"slices"
)

// progressName is the name of the progress counter in texts.
const progressName = "progress"

// Marks are the last used ids of a database, and its progress.
type Marks struct {
	// Progress counts the publications of marks.
	Progress int64 `json:"progress"`
	// Sequences holds the last value of each sequence, by name.
	Sequences map[string]int64 `json:"sequences"`
}

// Above returns the names of the marks that are higher in m than in other, in order. A mark that
// other lacks counts as 0. The progress counter is named "progress".
func (m Marks) Above(other Marks) []string {
	var names []string
	for name, mark := range m.Sequences {
		if mark > other.Sequences[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if m.Progress > other.Progress {
		names = append([]string{progressName}, names...)
	}
	return names
}

// Merge raises the marks of m to the marks of other.
func (m *Marks) Merge(other Marks) {
	m.Progress = max(m.Progress, other.Progress)
	if m.Sequences == nil {
		m.Sequences = make(map[string]int64, len(other.Sequences))
	}
	for name, mark := range other.Sequences {
		m.Sequences[name] = max(m.Sequences[name], mark)
	}
}

// Lost returns the names of the marks that are higher in m than in a database. It ignores sequences
// that the database no longer has.
func (m Marks) Lost(database Marks) []string {
	return slices.DeleteFunc(m.Above(database), func(name string) bool {
		_, there := database.Sequences[name]
		return !there && name != progressName
	})
}

// Clone returns a copy.
func (m Marks) Clone() Marks {
	return Marks{m.Progress, maps.Clone(m.Sequences)}
}
