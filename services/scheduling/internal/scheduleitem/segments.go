package scheduleitem

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// numberSegments gives the segments of shifts their ids, relations that say nothing else
// the shift as their target, and the drafts of shifts their bodies. A segment that is
// sent with the id of one that the shift has stays that one; others get ids that nothing
// else has.
func numberSegments(ctx context.Context, tx pgx.Tx, list []replacement) error {
	var unnumbered []*schedulingv1.ShiftSegment
	for _, r := range list {
		if r.draft.shift == nil {
			continue
		}
		had, err := r.was.segmentIDs()
		if err != nil {
			return err
		}
		for _, s := range r.draft.shift.GetSegments() {
			if !had[s.GetId()] {
				unnumbered = append(unnumbered, s)
			}
			delete(had, s.GetId()) // No two have one id.
		}
	}
	if len(unnumbered) > 0 {
		ids, err := newIDs(ctx, tx, len(unnumbered))
		if err != nil {
			return err
		}
		for i, s := range unnumbered {
			s.Id = proto.Int64(ids[i])
		}
	}
	at, err := modifiedAt(ctx, tx, list)
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.draft.shift == nil {
			continue
		}
		r.draft.shift.ModifiedDateTime = at
		for _, relation := range r.draft.shift.GetRelations() {
			if !named(relation.GetTargetRef()) {
				relation.TargetRef = &commonv1.Ref{Id: proto.Int64(r.id)}
			}
		}
		body, err := encode(r.draft.shift)
		if err != nil {
			return err
		}
		r.draft.body = body
	}
	return nil
}

// modifiedAt returns the time of the transaction as shifts show it; "" when no shift is
// among the drafts.
func modifiedAt(ctx context.Context, tx pgx.Tx, list []replacement) (string, error) {
	if !slices.ContainsFunc(list, func(r replacement) bool { return r.draft.shift != nil }) {
		return "", nil
	}
	var at time.Time
	if err := tx.QueryRow(ctx, "SELECT now()").Scan(&at); err != nil {
		return "", fmt.Errorf("scheduleitem: ask for the time: %w", err)
	}
	return at.UTC().Format("2006-01-02T15:04:05.000"), nil
}

// segmentIDs are those of the segments that an entry has, of which there are none when
// it does not exist.
func (k known) segmentIDs() (map[int64]bool, error) {
	shift := &schedulingv1.Shift{}
	var err error
	switch {
	case k.row != nil:
		err = proto.Unmarshal(k.row.body, shift)
	case k.generated != nil:
		shift, err = k.generated.Shift(civil.NewZone(time.UTC), "")
	}
	if err != nil {
		return nil, fmt.Errorf("scheduleitem: read segments: %w", err)
	}
	ids := make(map[int64]bool, len(shift.GetSegments()))
	for _, s := range shift.GetSegments() {
		ids[s.GetId()] = s.Id != nil
	}
	return ids, nil
}
