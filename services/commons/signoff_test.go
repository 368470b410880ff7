package commons_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/signoff"
)

// Wages on signed-off days do not change. Responses show the last such day, and can be sent back.
func TestWagesOfSignedOffDaysStay(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	wage := func(rate float64, from string) *commonsv1.Person {
		return &commonsv1.Person{JobAssignment: &commonsv1.JobAssignment{BaseWageRates: []*commonsv1.BaseWageRate{{HourlyRate: &rate, EffectiveDate: from}}}}
	}
	made, err := b.persons.CreatePerson(ctx, plain("1", func(p *commonsv1.Person) { proto.Merge(p, wage(20, "2021-05-03")) }))
	require.NoError(t, err)
	id := made.GetPersonIdentity().GetPersonKey()
	receive := func(through string, version int64) {
		t.Helper()
		require.NoError(t, pg.InTx(ctx, b.pool, func(ctx context.Context, tx pgx.Tx) error {
			return replica.Put(ctx, tx, signoff.NewCopy(b.pool), []*timekeepingv1.TimecardSignoffChanged{
				{EmployeeId: id, Through: through, Version: version}, {EmployeeId: id + 1000, Through: "2026-03-08", Version: 1},
			})
		}))
	}
	update := func(p *commonsv1.Person) error {
		_, err := b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: id, Person: p})
		return err
	}
	shown := func() *commonsv1.Person {
		t.Helper()
		p, err := b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id})
		require.NoError(t, err)
		return p
	}
	assert.Empty(t, shown().GetPersonInformation().GetPerson().GetManagerSignoffThruDateTime())
	receive("2026-03-08", 2)
	signed := shown()
	assert.Equal(t, "2026-03-08T00:00:00", signed.GetPersonInformation().GetPerson().GetManagerSignoffThruDateTime())
	assert.True(t, fault.HasCode(update(wage(30, "2026-03-08")), rules.CodeSignedOff))
	require.NoError(t, update(wage(20, "2026-03-01")), "the same wage")
	require.NoError(t, update(wage(30, "2026-03-09")))
	require.NoError(t, update(signed), "a response")
	receive("", 3)
	assert.Empty(t, shown().GetPersonInformation().GetPerson().GetManagerSignoffThruDateTime(), "the sent day was not stored")
	require.NoError(t, update(wage(30, "2026-03-08")))
}
