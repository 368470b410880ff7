package examples

import (
	"fmt"
	"regexp"
)

// shownItems is the number of items that recorded lists have at most.
const shownItems = 2

// cut returns a response with the first items of its lists.
func cut(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = cut(v[name])
		}
	case []any:
		v = v[:min(len(v), shownItems)]
		for i := range v {
			v[i] = cut(v[i])
		}
		return v
	}
	return v
}

// compare returns the first difference between a recorded and a new response. Numbers, and the digits of texts, depend
// on the day and on generated ids; they are not compared. Recorded lists have the first items only.
func compare(at string, recorded, got any) error {
	switch want := recorded.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return compareObjects(at, want, got)
		}
	case []any:
		if got, ok := got.([]any); ok {
			return compareLists(at, want, got)
		}
	case string:
		if got, ok := got.(string); ok && mask(got) == mask(want) {
			return nil
		}
	case float64:
		if _, ok := got.(float64); ok {
			return nil
		}
	default:
		if recorded == got {
			return nil
		}
	}
	return fmt.Errorf("%s is %v, but %v is recorded", at, got, recorded)
}

func compareObjects(at string, want, got map[string]any) error {
	for name := range got {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("%s.%s is not recorded", at, name)
		}
	}
	for name := range want {
		value, ok := got[name]
		if !ok {
			return fmt.Errorf("%s.%s is recorded, and absent", at, name)
		}
		if err := compare(at+"."+name, want[name], value); err != nil {
			return err
		}
	}
	return nil
}

func compareLists(at string, want, got []any) error {
	if len(got) < len(want) || len(want) < shownItems && len(got) != len(want) {
		return fmt.Errorf("%s has %d items, but %d are recorded", at, len(got), len(want))
	}
	for i := range want {
		if err := compare(fmt.Sprintf("%s[%d]", at, i), want[i], got[i]); err != nil {
			return err
		}
	}
	return nil
}

// compareNames compares the names of the properties of two responses: all that are recorded must be there. Lists can
// have other items on other days, so that only their being lists is compared.
func compareNames(recorded, got any) error {
	want, isObject := recorded.(map[string]any)
	if !isObject {
		if kind(recorded) != kind(got) {
			return fmt.Errorf("the response is %v, but %v is recorded", got, recorded)
		}
		return nil
	}
	have, ok := got.(map[string]any)
	if !ok {
		return fmt.Errorf("the response is %v, but %v is recorded", got, recorded)
	}
	for name := range want {
		value, ok := have[name]
		if !ok {
			return fmt.Errorf("%s is recorded, and absent", name)
		}
		if kind(value) != kind(want[name]) {
			return fmt.Errorf("%s is %v, but %v is recorded", name, value, want[name])
		}
	}
	return nil
}

// kind returns the JSON type of a value.
func kind(v any) string { return fmt.Sprintf("%T", v) }

var (
	// An id is a GUID, or a persistent id of 26 letters and digits.
	id     = regexp.MustCompile(`\b([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z2-7]{26})\b`)
	digits = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
)

// mask replaces ids and numbers in a text.
func mask(text string) string {
	return digits.ReplaceAllString(id.ReplaceAllString(text, "#"), "#")
}
