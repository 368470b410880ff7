package application

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// move sends an event from one named step to another.
func (f fixture) move(id, from, to string) (*event, error) {
	e := &event{DestinationStep: &ref{Name: to}}
	if from != "" {
		e.OriginStep = &ref{Name: from}
	}
	return f.CreateDispositionEvent(f.ctx, &recruitingv1.CreateDispositionEventRequest{Id: id, Body: e})
}

func TestAnApplicationMovesAlongItsProcess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a := f.apply("ada@example.test", f.opportunity(nil))
	first, err := f.move(a.GetId(), "", "interview")
	require.NoError(t, err)
	assert.Equal(t, "Applied", first.GetOriginStep().GetName())
	assert.Equal(t, "Interview", first.GetDestinationStep().GetName())
	back, err := f.move(a.GetId(), "Interview", "Screening")
	require.NoError(t, err, "an application may return to an earlier step")
	for _, c := range []struct{ name, from, to, code, member string }{
		{"another step", "Interview", "Offer", CodeStep, "origin_step"},
		{"an unknown origin", "Dance", "Offer", CodeStepUnknown, "origin_step"},
		{"an unknown destination", "", "Dance", CodeStepUnknown, "destination_step"},
		{"the last step", "", "Hired", CodeInvalid, "destination_step"},
		{"the present step", "", "Screening", CodeInvalid, "destination_step"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := f.move(a.GetId(), c.from, c.to)
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
	read, err := f.GetApplication(f.ctx, &byID{Id: a.GetId()})
	require.NoError(t, err)
	assert.Equal(t, "Screening", read.GetStep().GetName())
	list, err := f.ListDispositionEvents(f.ctx, &recruitingv1.ListDispositionEventsRequest{Id: a.GetId()})
	require.NoError(t, err)
	require.Len(t, list.GetItems(), 2)
	assert.True(t, proto.Equal(first, list.GetItems()[0]))
	assert.True(t, proto.Equal(back, list.GetItems()[1]))
}

func TestOneOfTwoMovesFromAStepWins(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a := f.apply("ada@example.test", f.opportunity(nil))
	errs := make([]error, 4)
	var group errgroup.Group
	for i := range errs {
		group.Go(func() error {
			_, errs[i] = f.move(a.GetId(), "Applied", "Screening")
			return nil
		})
	}
	require.NoError(t, group.Wait())
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		assert.True(t, fault.HasCode(err, CodeStep), "%v", err)
	}
	assert.Equal(t, 1, won)
}

func TestBoardsReadTheirPostingsAndEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var guid string
	require.NoError(t, f.pool.QueryRow(f.ctx, `INSERT INTO job_board (tenant_id, name, body) VALUES (1, 'Board', '') RETURNING guid::text`).Scan(&guid))
	on := func(o *recruitingv1.Opportunity, c record.Columns) {
		o.JobBoards = []*recruitingv1.OpportunityJobBoard{{Id: guid, IsPublishedExternal: true}}
		c["job_board_ids"], c["is_published"] = []string{guid}, true
	}
	shown := f.opportunity(on)
	f.opportunity(func(o *recruitingv1.Opportunity, c record.Columns) { on(o, c); c["is_published"] = false })
	f.opportunity(on)
	list, err := f.ListPostings(f.ctx, &recruitingv1.ListPostingsRequest{IntegrationId: guid, PerPage: 1})
	require.NoError(t, err)
	require.Len(t, list.GetItems(), 1)
	assert.Equal(t, PostingID(shown, guid), list.GetItems()[0].GetId())
	assert.True(t, list.GetItems()[0].GetIsPublishedExternal())
	for page, n := range map[int32]int{2: 1, 3: 0} {
		list, err = f.ListPostings(f.ctx, &recruitingv1.ListPostingsRequest{IntegrationId: guid, PerPage: 1, Page: page})
		require.NoError(t, err)
		assert.Len(t, list.GetItems(), n, page)
	}
	hidden, err := f.ListPostings(f.as(7), &recruitingv1.ListPostingsRequest{IntegrationId: guid})
	require.NoError(t, err)
	assert.Empty(t, hidden.GetItems())
	_, err = f.ListPostings(f.ctx, &recruitingv1.ListPostingsRequest{IntegrationId: board})
	require.True(t, fault.HasStatus(err, 404), "%v", err)

	in := request(f.candidate("ada@example.test"), shown)
	in.JobBoard = &recruitingv1.IdRef{Id: guid}
	a, err := f.CreateApplication(f.ctx, in)
	require.NoError(t, err)
	other := f.apply("bo@example.test", shown)
	for _, id := range []string{a.GetId(), other.GetId()} {
		_, err = f.move(id, "", "Offer")
		require.NoError(t, err)
	}
	read, err := f.ListBoardDispositionEvents(f.ctx, &recruitingv1.ListBoardDispositionEventsRequest{IntegrationId: guid})
	require.NoError(t, err)
	require.Len(t, read.GetItems(), 1)
	assert.Equal(t, a.GetId(), read.GetItems()[0].GetApplication().GetId())
	all, err := f.ListAllDispositionEvents(f.ctx, &recruitingv1.ListAllDispositionEventsRequest{})
	require.NoError(t, err)
	assert.Len(t, all.GetItems(), 2)
	all, err = f.ListAllDispositionEvents(f.as(7), &recruitingv1.ListAllDispositionEventsRequest{})
	require.NoError(t, err)
	assert.Empty(t, all.GetItems())
}
