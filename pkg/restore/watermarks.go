package restore

import (
	"maps"
	"slices"
)

// progressName is the name of the progress counter in texts.
const progressName = "progress"

// Watermarks are the last used ids of a database, and its progress.
type Watermarks struct {
	// Progress counts the publications of watermarks.
	Progress int64 `json:"progress"`
	// Sequences holds the last value of each sequence, by name.
	Sequences map[string]int64 `json:"sequences"`
}

// Above returns the names of the watermarks that are higher in m than in other, in order. A watermark that
// other lacks counts as 0. The progress counter is named "progress".
func (m Watermarks) Above(other Watermarks) []string {
	var names []string
	for name, watermark := range m.Sequences {
		if watermark > other.Sequences[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if m.Progress > other.Progress {
		names = append([]string{progressName}, names...)
	}
	return names
}

// Merge raises the watermarks of m to the watermarks of other.
func (m *Watermarks) Merge(other Watermarks) {
	m.Progress = max(m.Progress, other.Progress)
	if m.Sequences == nil {
		m.Sequences = make(map[string]int64, len(other.Sequences))
	}
	for name, watermark := range other.Sequences {
		m.Sequences[name] = max(m.Sequences[name], watermark)
	}
}

// Lost returns the names of the watermarks that are higher in m than in a database. It ignores sequences
// that the database no longer has.
func (m Watermarks) Lost(database Watermarks) []string {
	return slices.DeleteFunc(m.Above(database), func(name string) bool {
		_, there := database.Sequences[name]
		return !there && name != progressName
	})
}

// Clone returns a copy.
func (m Watermarks) Clone() Watermarks {
	return Watermarks{m.Progress, maps.Clone(m.Sequences)}
}
