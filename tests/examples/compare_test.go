package examples

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	recorded := object{"id": 7.0, "name": "Top 1", "on": true, "of": nil, "list": []any{1.0, 2.0}, "pair": []any{"a"}}
	for name, one := range map[string]struct {
		got  object
		says string
	}{
		"other numbers":      {object{"id": 8.0, "name": "Top 22", "on": true, "of": nil, "list": []any{4.0, 5.0, 6.0}, "pair": []any{"a"}}, ""},
		"another text":       {object{"id": 7.0, "name": "Low 1", "on": true, "of": nil, "list": []any{1.0, 2.0}, "pair": []any{"a"}}, "name is Low 1"},
		"another type":       {object{"id": "7", "name": "Top 1", "on": true, "of": nil, "list": []any{1.0, 2.0}, "pair": []any{"a"}}, "id is 7"},
		"another truth":      {object{"id": 7.0, "name": "Top 1", "on": false, "of": nil, "list": []any{1.0, 2.0}, "pair": []any{"a"}}, "on is false"},
		"an absent property": {object{"id": 7.0, "name": "Top 1", "on": true, "list": []any{1.0, 2.0}, "pair": []any{"a"}}, "of is recorded"},
		"a new property":     {object{"id": 7.0, "name": "Top 1", "on": true, "of": nil, "list": []any{1.0, 2.0}, "pair": []any{"a"}, "x": 1.0}, "x is not recorded"},
		"a longer pair":      {object{"id": 7.0, "name": "Top 1", "on": true, "of": nil, "list": []any{1.0, 2.0}, "pair": []any{"a", "b"}}, "pair has 2 items"},
		"a shorter list":     {object{"id": 7.0, "name": "Top 1", "on": true, "of": nil, "list": []any{1.0}, "pair": []any{"a"}}, "list has 1 items"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := compare("it", recorded, one.got)
			if one.says == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, one.says)
		})
	}
}

func TestCompareNames(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for name, one := range map[string]struct {
		recorded, got any
		says          string
	}{
		"other values":       {object{"id": 7.0, "list": []any{1.0}}, object{"id": 8.0, "list": []any{}, "x": true}, ""},
		"another list":       {[]any{1.0}, []any{}, ""},
		"an absent property": {object{"id": 7.0}, object{"x": 7.0}, "id is recorded"},
		"another type":       {object{"id": 7.0}, object{"id": "7"}, "id is 7"},
		"no list":            {[]any{1.0}, object{"id": 7.0}, "is recorded"},
		"no object":          {object{"id": 7.0}, []any{}, "is recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := compareNames(one.recorded, one.got)
			if one.says == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, one.says)
		})
	}
}
