package scheduling_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func TestTerminationEndsAssignments(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.run(t)
	ctx := inTenant(t, 1)
	term := b.createTerm(t, ctx, "Term")
	for person := int64(1); person <= 2; person++ {
		_, err := b.upsert(ctx, termsFor(person, nil, on(term, "2024-01-01", "3000-01-01")))
		require.NoError(t, err)
	}
	eventually := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool { return b.onTerm(ctx, t, 1) == want }, 10*time.Second, 5*time.Millisecond, want)
	}
	from := func(day string) []*commonsv1.PersonDays {
		return []*commonsv1.PersonDays{{From: day, To: "3000-01-01"}}
	}

	b.publishPerson(t, &commonsv1.PersonState{PersonId: 1, PersonNumber: "P1", Version: 5, Terminated: from("2026-06-01")})
	eventually(fmt.Sprintf("1 v2 %d:2024-01-01..2026-06-01", term))
	_, err := b.upsert(ctx, termsFor(1, nil, on(term, "2024-01-01", "2026-06-02")))
	require.Error(t, err)
	assert.Equal(t, "WRL-20001", fault.FromError(err).Details.GetResults()[0].GetError().GetErrorCode())
	assert.Contains(t, fault.FromError(err).Details.GetResults()[0].GetError().GetMessage(), "2026-06-01")
	_, err = b.upsert(ctx, termsFor(1, nil, on(term, "2024-01-01", "2026-06-01")))
	require.NoError(t, err, "the last day before")

	b.publishPerson(t, &commonsv1.PersonState{PersonId: 1, PersonNumber: "P1", Version: 4, Terminated: from("2025-01-01")})
	b.publishPerson(t, &commonsv1.PersonState{PersonId: 1, PersonNumber: "P1", Version: 6})
	require.Eventually(t, func() bool {
		_, err := b.upsert(ctx, termsFor(1, nil, on(term, "2024-01-01", "2027-01-01")))
		return err == nil
	}, 10*time.Second, 5*time.Millisecond, "a termination that was taken back stands in nobody's way; an old event changes nothing")
	eventually(fmt.Sprintf("1 v3 %d:2024-01-01..2027-01-01", term))

	b.publishPerson(t, &commonsv1.PersonState{PersonId: 1, Version: 7, Deleted: true})
	eventually("1 v4")
	assert.Equal(t, fmt.Sprintf("2 v1 %d:2024-01-01..3000-01-01", term), b.onTerm(ctx, t, 2), "somebody else")
}

func (b *fixture) onTerm(ctx context.Context, t *testing.T, person int64) string {
	t.Helper()
	return b.memberships(t, ctx, person)[0]
}
