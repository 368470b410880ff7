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
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// numberSegments assigns ids to the segments of drafts, and encodes the bodies of drafts with
// segments. A segment that is sent with the id of an existing segment of the entry keeps it; other
// segments get new ids. Relations of shifts without a target get the shift as their target.
func numberSegments(ctx context.Context, tx pgx.Tx, list []replacement) error {
	var unnumbered []**int64
	for _, r := range list {
		if r.draft.Segmented == nil {
			continue
		}
		existing, err := r.was.segmentIDs()
		if err != nil {
			return err
		}
		for _, id := range segmentIDFields(r.draft.Segmented) {
			if *id == nil || !existing[**id] {
				unnumbered = append(unnumbered, id)
				continue
			}
			delete(existing, **id) // Ids must be unique.
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
			finishShift(shift, r.id, at)
		}
		body, err := itemdraft.Encode(r.draft.Segmented)
		if err != nil {
			return err
		}
		r.draft.Body = body
	}
	return nil
}

// finishShift sets the modification time of a shift and the missing targets of its relations.
func finishShift(shift *schedulingv1.Shift, id int64, at string) {
	shift.ModifiedDateTime = at
	for _, relation := range shift.GetRelations() {
		if !itemdraft.IsSet(relation.GetTargetRef()) {
			relation.TargetRef = &commonv1.Ref{Id: proto.Int64(id)}
		}
	}
}

// modifiedAt returns the formatted time of the transaction, or "" if the drafts contain no shifts.
func modifiedAt(ctx context.Context, tx pgx.Tx, list []replacement) (string, error) {
	if !slices.ContainsFunc(list, func(r replacement) bool {
		_, shift := r.draft.Segmented.(*schedulingv1.Shift)
		return shift
	}) {
		return "", nil
	}
	var at time.Time
	if err := tx.QueryRow(ctx, "SELECT now()").Scan(&at); err != nil {
		return "", fmt.Errorf("itemchange: read the time: %w", err)
	}
	return at.UTC().Format("2006-01-02T15:04:05.000"), nil
}

// segmentIDFields returns pointers to the id fields of an entry's segments.
func segmentIDFields(m proto.Message) []**int64 {
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

// segmentIDs returns the ids of the entry's segments. The result is empty if the entry does not
// exist.
func (k entryState) segmentIDs() (map[int64]bool, error) {
	entry, err := k.decodeSegmented()
	if err != nil {
		return nil, fmt.Errorf("itemchange: read segments: %w", err)
	}
	ids := map[int64]bool{}
	for _, id := range segmentIDFields(entry) {
		if *id != nil {
			ids[**id] = true
		}
	}
	return ids, nil
}

// segmented returns the entry as a message with segments, or nil if it does not exist.
func (k entryState) decodeSegmented() (proto.Message, error) {
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
		return k.generated.Shift(utc, projection.Job{})
	}
	return nil, nil
}
