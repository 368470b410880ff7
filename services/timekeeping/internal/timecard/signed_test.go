package timecard

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// signOff signs a timecard off through the last of some days.
func signOff(t *testing.T, ctx context.Context, r *Reader, employee int64, days civil.Range) {
	t.Helper()
	k, err := r.known(ctx, employee, days)
	require.NoError(t, err)
	require.NoError(t, r.inLock(ctx, 1, []int64{employee}, func(ctx context.Context, tx pgx.Tx) error {
		cards, err := r.readIn(ctx, tx, 1, []int64{employee}, window{days: days, bodies: true}, k.of)
		if err != nil {
			return err
		}
		return cards[0].freeze(ctx, tx, 1, "somebody")
	}))
}

// Punches that come after the sign-off are corrections that add up, with the days that
// were kept, to what somebody has who was never signed off.
func TestCorrectionsAddUp(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	reader := NewReader(newPool(t), knownDays{}, noon("2026-05-01"))
	monday := civil.Of(2026, time.March, 2)
	for seed := range 12 {
		employee, other := int64(2*seed+1), int64(2*seed+2)
		random := rand.New(rand.NewPCG(1, uint64(seed)))
		var early, late []string
		for day := range 5 {
			date := (monday + civil.Date(day)).String()
			early = append(early, date+"T08:00", date+"T16:00")
			if day < 4 && random.IntN(2) == 0 {
				late = append(late, fmt.Sprintf("%sT%02d:%02d", date, 9+random.IntN(6), 1+random.IntN(58)))
			}
		}
		// The next week is open.
		early = append(early, "2026-03-09T08:00", "2026-03-09T15:00")
		punched(t, ctx, reader, 1, employee, early...)
		signOff(t, ctx, reader, employee, civil.Range{From: monday, To: monday + 7})
		kept := describe(totalsOf(t, ctx, reader, "2026-03-02", "2026-03-08", employee)[0].GetTotals())
		for _, one := range late {
			punched(t, ctx, reader, 1, employee, one)
		}
		punched(t, ctx, reader, 1, other, append(early, late...)...)

		assert.Equal(t, kept, describe(totalsOf(t, ctx, reader, "2026-03-02", "2026-03-08", employee)[0].GetTotals()), "seed %d", seed)
		var sums [2]int64
		for i, id := range []int64{employee, other} {
			for _, w := range totalsOf(t, ctx, reader, "2026-03-02", "2026-03-15", id)[0].GetTotals() {
				sums[i] += w.GetSeconds()
			}
		}
		assert.Equal(t, sums[1], sums[0], "seed %d: %v", seed, late)
	}
}
