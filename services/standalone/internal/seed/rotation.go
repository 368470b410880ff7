package seed

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sort"
)

//go:embed rotations.json
var rotationsJSON []byte

// rotation is a repeating cycle that real crews work, with one letter for each day.
type rotation struct {
	Name      string           `json:"name"`
	CycleDays int              `json:"cycleDays"`
	Cycle     string           `json:"cycle"`
	Shifts    map[string]times `json:"shifts"`
}

// times are local wall-clock times, HH:MM.
type times struct {
	Start       string `json:"start"`
	End         string `json:"end"`
	EndsNextDay bool   `json:"endsNextDay"`
}

func rotations() ([]rotation, error) {
	var file struct {
		Rotations []rotation `json:"rotations"`
	}
	if err := json.Unmarshal(rotationsJSON, &file); err != nil {
		return nil, fmt.Errorf("rotations.json: %w", err)
	}
	return file.Rotations, nil
}

// object is a JSON object.
type object = map[string]any

// shiftTemplateName returns the name of the shift template for a letter.
func (r rotation) shiftTemplateName(letter string) string {
	return r.Name + " " + letter
}

// shiftTemplates returns the shifts of the rotation, anchored on 1900-01-01.
func (r rotation) shiftTemplates() []object {
	letters := make([]string, 0, len(r.Shifts))
	for letter := range r.Shifts {
		letters = append(letters, letter)
	}
	sort.Strings(letters)
	var templates []object
	for _, letter := range letters {
		t := r.Shifts[letter]
		endDay := "1900-01-01"
		if t.EndsNextDay {
			endDay = "1900-01-02"
		}
		templates = append(templates, object{
			"name":          r.shiftTemplateName(letter),
			"label":         letter,
			"startDateTime": "1900-01-01T" + t.Start + ":00",
			"endDateTime":   endDay + "T" + t.End + ":00",
		})
	}
	return templates
}

// patternTemplate returns the rotation as a schedule pattern template.
func (r rotation) patternTemplate() object {
	var items []object
	for i, letter := range r.Cycle {
		if letter != '-' {
			items = append(items, object{
				"day":           i + 1,
				"shiftTemplate": object{"name": r.shiftTemplateName(string(letter))},
			})
		}
	}
	return object{
		"name":           r.Name,
		"dayCount":       r.CycleDays,
		"timePeriodType": object{"name": "Daily"},
		"items":          items,
	}
}
