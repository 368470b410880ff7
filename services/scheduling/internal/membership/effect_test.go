package membership

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

func TestEffects(t *testing.T) {
	t.Parallel()
	days := func(from, to civil.Date) civil.Range { return civil.Range{From: from, To: to} }
	old := []membership{{1, days(0, 10)}, {2, days(10, 20)}}
	for name, test := range map[string]struct {
		does  effect
		fresh []membership
		want  []membership
	}{
		"adds in the middle":      {add, []membership{{3, days(4, 6)}}, []membership{{1, days(0, 4)}, {3, days(4, 6)}, {1, days(6, 10)}, {2, days(10, 20)}}},
		"adds across two":         {add, []membership{{3, days(8, 12)}}, []membership{{1, days(0, 8)}, {3, days(8, 12)}, {2, days(12, 20)}}},
		"adds two":                {add, []membership{{3, days(0, 1)}, {4, days(19, 25)}}, []membership{{3, days(0, 1)}, {1, days(1, 10)}, {2, days(10, 19)}, {4, days(19, 25)}}},
		"removes a part":          {remove, []membership{{1, days(2, 4)}}, []membership{{1, days(0, 2)}, {1, days(4, 10)}, {2, days(10, 20)}}},
		"removes from its term":   {remove, []membership{{2, days(0, 30)}}, []membership{{1, days(0, 10)}}},
		"removes what is not":     {remove, []membership{{3, days(0, 30)}}, old},
		"replaces all there were": {replaceSpan, []membership{{3, days(4, 6)}}, []membership{{3, days(4, 6)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			it := &item{change: change{span: always}, effect: test.does, fresh: test.fresh}
			assert.Equal(t, test.want, it.apply(old))
		})
	}
}
