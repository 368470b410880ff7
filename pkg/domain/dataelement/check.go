package dataelement

import (
	"fmt"
	"regexp"
)

var keyForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// Problems returns the faults in the entries of a table. A test of every provider checks that there
// are none.
func (t *Table[R]) Problems() []string {
	var out []string
	seen := map[string]bool{}
	for i := range t.Entries {
		e := &t.Entries[i]
		report := func(text string) { out = append(out, fmt.Sprintf("%s: %s", e.Key, text)) }
		if seen[e.Key] {
			report("exists twice")
		}
		seen[e.Key] = true
		if !keyForm.MatchString(e.Key) {
			report("does not have the form of a key")
		}
		if e.Label == "" || e.Doc == "" || len(e.Categories) == 0 || e.Value == nil {
			report("needs a label, a doc, a category and a value")
		}
		if e.Type < String || e.Type > Time {
			report("needs a type")
		}
		for _, p := range e.Properties {
			if p.Key == "" || p.Doc == "" {
				report("has a property without key or doc")
			}
		}
	}
	return out
}
