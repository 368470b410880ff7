package contract

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// Match compares a response with the expectation and returns the difference. Expected texts in
// angle brackets match any value of a kind:
//
//	<any>       anything that is present
//	<absent>    nothing
//	<number>    a JSON number
//	<text>      a text that is not empty
//	<date>      YYYY-MM-DD
//	<list>      an array
//	<matches X> a text that matches the regular expression X
//
// Numbers compare as numbers. An expected map with the single key "<contains>" holds a list of
// items; each must match some item of the array.
func Match(expected, actual any) error {
	return match("response", normalise(expected), actual)
}

// normalise converts values from YAML to the types of encoding/json, with numbers as json.Number.
func normalise(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = normalise(v[k])
		}
		return v
	case []any:
		for i := range v {
			v[i] = normalise(v[i])
		}
		return v
	case int, int64, uint64, float64:
		data, err := json.Marshal(v)
		if err != nil {
			return v
		}
		return json.Number(data)
	default:
		return v
	}
}

func match(at string, expected, actual any) error {
	switch want := expected.(type) {
	case map[string]any:
		if items, ok := want["<contains>"]; ok && len(want) == 1 {
			return matchSome(at, items, actual)
		}
		return matchObject(at, want, actual)
	case []any:
		return matchArray(at, want, actual)
	case string:
		if strings.HasPrefix(want, "<") && strings.HasSuffix(want, ">") {
			return matchKind(at, want[1:len(want)-1], actual)
		}
	case json.Number:
		if got, ok := actual.(json.Number); ok && sameNumber(want, got) {
			return nil
		}
		return differ(at, expected, actual)
	}
	if expected != actual {
		return differ(at, expected, actual)
	}
	return nil
}

func matchObject(at string, want map[string]any, actual any) error {
	got, ok := actual.(map[string]any)
	if !ok {
		return differ(at, want, actual)
	}
	keys := make([]string, 0, len(want))
	for k := range want {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		value, present := got[k]
		if want[k] == "<absent>" {
			if present {
				return fmt.Errorf("%s.%s is %s, but must be absent", at, k, show(value))
			}
			continue
		}
		if !present {
			return fmt.Errorf("%s.%s is absent in %s", at, k, show(actual))
		}
		if err := match(at+"."+k, want[k], value); err != nil {
			return err
		}
	}
	return nil
}

func matchArray(at string, want []any, actual any) error {
	got, ok := actual.([]any)
	if !ok || len(got) != len(want) {
		return differ(at, want, actual)
	}
	for i := range want {
		if err := match(fmt.Sprintf("%s[%d]", at, i), want[i], got[i]); err != nil {
			return err
		}
	}
	return nil
}

func matchSome(at string, items, actual any) error {
	want, ok := items.([]any)
	got, isList := actual.([]any)
	if !ok || !isList {
		return differ(at, items, actual)
	}
next:
	for _, w := range want {
		for _, g := range got {
			if match(at, w, g) == nil {
				continue next
			}
		}
		return fmt.Errorf("%s has no item like %s: %s", at, show(w), show(actual))
	}
	return nil
}

var date = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

func matchKind(at, kind string, actual any) error {
	text, isText := actual.(string)
	var ok bool
	switch {
	case kind == "any":
		ok = actual != nil
	case kind == "number":
		_, ok = actual.(json.Number)
	case kind == "text":
		ok = isText && text != ""
	case kind == "date":
		ok = isText && date.MatchString(text)
	case kind == "list":
		_, ok = actual.([]any)
	case strings.HasPrefix(kind, "matches "):
		re, err := regexp.Compile(strings.TrimPrefix(kind, "matches "))
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		ok = isText && re.MatchString(text)
	default:
		return fmt.Errorf("%s: unknown placeholder <%s>", at, kind)
	}
	if !ok {
		return differ(at, "<"+kind+">", actual)
	}
	return nil
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x == y
}

func differ(at string, want, got any) error {
	return fmt.Errorf("%s is %s, but must be %s", at, show(got), show(want))
}

// show returns a value as JSON, truncated for readers.
func show(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(data) > 2000 {
		return string(data[:2000]) + "…"
	}
	return string(data)
}
