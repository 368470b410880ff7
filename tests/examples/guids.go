package examples

// guids relates the GUIDs of the recorded responses to the GUIDs that the server has now generated for the same
// objects. Requests name the recorded GUIDs, as readers see them.
type guids struct {
	current, recorded map[string]string
}

func newGUIDs() *guids { return &guids{current: map[string]string{}, recorded: map[string]string{}} }

// relate learns the GUIDs of a response. Both responses have the same parts, or the parts that differ are ignored.
func (g *guids) relate(recorded, got any) {
	switch recorded := recorded.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			for name := range recorded {
				g.relate(recorded[name], got[name])
			}
		}
	case []any:
		if got, ok := got.([]any); ok {
			for i := range min(len(recorded), len(got)) {
				g.relate(recorded[i], got[i])
			}
		}
	case string:
		if got, ok := got.(string); ok {
			g.relateTexts(recorded, got)
		}
	}
}

func (g *guids) relateTexts(recorded, got string) {
	before, after := id.FindAllString(recorded, -1), id.FindAllString(got, -1)
	if len(before) != len(after) {
		return
	}
	for i := range before {
		g.current[before[i]], g.recorded[after[i]] = after[i], before[i]
	}
}

// insertCurrent replaces the recorded GUIDs of a text by the current ones.
func (g *guids) insertCurrent(text string) string { return replaceIDs(text, g.current) }

// restoreRecorded replaces the current GUIDs of a response by the recorded ones, so that an update keeps them.
func (g *guids) restoreRecorded(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = g.restoreRecorded(v[name])
		}
	case []any:
		for i := range v {
			v[i] = g.restoreRecorded(v[i])
		}
	case string:
		return replaceIDs(v, g.recorded)
	}
	return v
}

func replaceIDs(text string, by map[string]string) string {
	return id.ReplaceAllStringFunc(text, func(found string) string {
		if other, ok := by[found]; ok {
			return other
		}
		return found
	})
}
