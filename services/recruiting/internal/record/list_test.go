package record_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestPagesAroundOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after, before int64
		changes       []int64
		more          bool
		prev, next    int64
	}{
		"all":                  {changes: []int64{5, 6}},
		"first":                {changes: []int64{5, 6}, more: true, next: 6},
		"middle":               {after: 4, changes: []int64{5, 6}, more: true, prev: 5, next: 6},
		"last":                 {after: 4, changes: []int64{5, 6}, prev: 5},
		"after the last":       {after: 6, prev: 7},
		"back":                 {before: 7, changes: []int64{5, 6}, more: true, prev: 5, next: 6},
		"back to the first":    {before: 7, changes: []int64{5, 6}, next: 6},
		"back before the last": {before: 5, next: 4},
		"nothing":              {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cursor := func(at int64) string {
				if at == 0 {
					return ""
				}
				return record.Cursor(at)
			}
			prev, next := record.Around(c.after, c.before, c.changes, c.more)
			assert.Equal(t, cursor(c.prev), prev, "prev")
			assert.Equal(t, cursor(c.next), next, "next")
		})
	}
}
