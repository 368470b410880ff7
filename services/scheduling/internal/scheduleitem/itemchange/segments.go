package itemchange

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
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// numberSegments gives the segments of drafts their ids, relations of shifts that say nothing
// else the shift as their target, and drafts with segments their bodies. A segment that is
// sent with the id of one that the entry has stays that one; others get ids that nothing
// else has.
func numberSegments(ctx context.Context, tx pgx.Tx, list []replacement) error {
	var unnumbered []**int64
	for _, r := range list {
		if r.draft.Segmented == nil {
			continue
		}
		had, err := r.was.segmentIDs()
		if err != nil {
			return err
		}
		for _, id := range idsOfSegments(r.draft.Segmented) {
			if *id == nil || !had[**id] {
				unnumbered = append(unnumbered, id)
				continue
			}
			delete(had, **id) // No two have one id.
		}
	}
	if len(unnumbered) > 0 {
		ids, err := itemstore.NewIDs(ctx, tx, len(unnumbered))
		if err != nil {
			return err
		}
		for i, id := range unnumbered {
			*id = proto.Int64(ids[i])
		}
	}
	at, err := modifiedAt(ctx, tx, list)
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.draft.Segmented == nil {
			continue
		}
		if shift, ok := r.draft.Segmented.(*schedulingv1.Shift); ok {
			stamp(shift, r.id, at)
		}
		body, err := itemdraft.Encode(r.draft.Segmented)
		if err != nil {
			return err
		}
		r.draft.Body = body
	}
	return nil
}

// stamp says in a shift when it was modified, and in its relations that they lead to it.
func stamp(shift *schedulingv1.Shift, id int64, at string) {
	shift.ModifiedDateTime = at
	for _, relation := range shift.GetRelations() {
		if !itemdraft.Named(relation.GetTargetRef()) {
			relation.TargetRef = &commonv1.Ref{Id: proto.Int64(id)}
		}
	}
}

// modifiedAt returns the time of the transaction as shifts show it; "" when no shift is
// among the drafts.
func modifiedAt(ctx context.Context, tx pgx.Tx, list []replacement) (string, error) {
	if !slices.ContainsFunc(list, func(r replacement) bool {
		_, shift := r.draft.Segmented.(*schedulingv1.Shift)
		return shift
	}) {
		return "", nil
	}
	var at time.Time
	if err := tx.QueryRow(ctx, "SELECT now()").Scan(&at); err != nil {
		return "", fmt.Errorf("itemchange: ask for the time: %w", err)
	}
	return at.UTC().Format("2006-01-02T15:04:05.000"), nil
}

// idsOfSegments returns where the segments of an entry have their ids.
func idsOfSegments(m proto.Message) []**int64 {
	var ids []**int64
	switch m := m.(type) {
	case *schedulingv1.Shift:
		for _, s := range m.GetSegments() {
			ids = append(ids, &s.Id)
		}
	case *schedulingv1.ScheduleTag:
		for _, s := range m.GetSegments() {
			ids = append(ids, &s.Id)
		}
	}
	return ids
}

// segmentIDs are those of the segments that an entry has, of which there are none when
// it does not exist.
func (k known) segmentIDs() (map[int64]bool, error) {
	entry, err := k.segmented()
	if err != nil {
		return nil, fmt.Errorf("itemchange: read segments: %w", err)
	}
	ids := map[int64]bool{}
	for _, id := range idsOfSegments(entry) {
		if *id != nil {
			ids[**id] = true
		}
	}
	return ids, nil
}

// segmented returns the entry, which has segments; nil when it does not exist.
func (k known) segmented() (proto.Message, error) {
	utc := civil.NewZone(time.UTC)
	switch {
	case k.row != nil && k.row.Kind == itemstore.KindScheduleTag:
		tag := &schedulingv1.ScheduleTag{}
		return tag, proto.Unmarshal(k.row.Body, tag)
	case k.row != nil:
		shift := &schedulingv1.Shift{}
		return shift, proto.Unmarshal(k.row.Body, shift)
	case k.generated != nil && k.generated.IsTag():
		return k.generated.Tag(utc)
	case k.generated != nil:
		return k.generated.Shift(utc, "")
	}
	return nil, nil
}
