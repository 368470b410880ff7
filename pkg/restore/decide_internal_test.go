package restore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRaisedSequencesStayInTheirSteps(t *testing.T) {
	t.Parallel()
	last := func(n int64) *int64 { return &n }
	const most = 1<<63 - 1
	for name, c := range map[string]struct {
		limits    limits
		watermark int64
		small     bool
		want      int64
	}{
		"that gave nothing":            {limits{start: 1, lowest: 1, most: most, increment: 1}, 0, false, 1 << 20},
		"above what it gave":           {limits{start: 1, lowest: 1, most: most, increment: 1, last: last(70)}, 0, false, 70 + 1<<20},
		"above the watermark":          {limits{start: 1, lowest: 1, most: most, increment: 1, last: last(70)}, 90, false, 90 + 1<<20},
		"by a little":                  {limits{start: 1, lowest: 1, most: most, increment: 1, last: last(70)}, 90, true, 90 + 1<<16},
		"in blocks":                    {limits{start: 1024, lowest: 1024, most: 1<<33 - 1, increment: 1024, last: last(2048)}, 4096, false, 4096 + (1<<14-1)*1024},
		"in blocks, off the watermark": {limits{start: 1024, lowest: 1024, most: 1<<33 - 1, increment: 1024, last: last(2048)}, 4097, false, 5120 + (1<<14-1)*1024},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.limits.raisedValue(c.watermark, c.small)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
	_, err := limits{name: "full", start: 1, lowest: 1, most: 1000, increment: 1, last: last(1000)}.raisedValue(0, false)
	var exhausted *Exhausted
	require.ErrorAs(t, err, &exhausted)
	assert.Contains(t, err.Error(), "raise its MAXVALUE")
}

func TestDecisionsByEvidence(t *testing.T) {
	t.Parallel()
	at := func(progress, thing int64) Watermarks { return Watermarks{progress, map[string]int64{"thing": thing}} }
	known := func(m Watermarks, firstHand bool) evidence {
		return evidence{watermarks: &m, firstHand: firstHand, read: true, complete: true}
	}
	here := snapshot{watermarks: at(5, 50), place: "a", timeline: "1", recordedPlace: "a", recordedTimeline: "1"}
	promoted, copied, fresh := here, here, snapshot{watermarks: at(0, 0), place: "a", timeline: "1", fresh: true}
	promoted.timeline, copied.place = "2", "b"
	for name, c := range map[string]struct {
		has  snapshot
		e    evidence
		want verdict
	}{
		"a new one, before the bucket was read": {fresh, evidence{}, wait},
		"a new one, with an empty bucket":       {fresh, evidence{read: true}, open},
		"a new one in place of another":         {fresh, known(at(9, 90), true), refuse},
		"whole":                                 {here, known(at(5, 50), true), open},
		"ahead of the bucket":                   {here, known(at(4, 40), true), open},
		"behind in progress alone":              {here, known(at(6, 50), true), refuse},
		"behind in a sequence alone":            {here, known(at(5, 51), true), refuse},
		"behind a witness":                      {here, known(at(6, 60), false), refuse},
		"as far as a witness":                   {here, known(at(5, 50), false), leapFull},
		"a sequence is gone":                    {here, known(Watermarks{5, map[string]int64{"thing": 50, "dropped": 7}}, true), open},
		"promoted and whole":                    {promoted, known(at(5, 50), true), leapSmall},
		"promoted and behind":                   {promoted, known(at(6, 50), true), refuse},
		"promoted, and only witnesses":          {promoted, known(at(5, 50), false), refuse},
		"promoted, and nobody knows":            {promoted, evidence{read: true, complete: true}, refuse},
		"promoted, without a broker":            {promoted, evidence{overdue: true}, wait},
		"copied and whole":                      {copied, known(at(5, 50), true), leapSmall},
		"nobody knows yet":                      {here, evidence{read: true}, wait},
		"nobody knows":                          {here, evidence{read: true, complete: true}, leapFull},
		"without a broker":                      {here, evidence{overdue: true}, leapFull},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, reason := decide(c.has, c.e)
			assert.Equal(t, c.want, got)
			if got == refuse {
				assert.NotEmpty(t, reason)
			}
		})
	}
}
