package paycode

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// listEdits returns the pay code edits of timecards whose bodies have the bytes of an id.
const listEdits = `
SELECT coalesce(p.person_number, e.employee_id::text), e.apply_date::text, e.body
FROM timecard_edit e LEFT JOIN person p ON p.tenant_id = $1 AND p.id = e.employee_id
WHERE e.tenant_id = $1 AND position($2 IN e.body) > 0 ORDER BY e.id`

const listSubtypes = `SELECT name, body FROM request_subtype WHERE tenant_id = $1 ORDER BY id`

// checkUnused returns an error if a timecard or a request subtype refers to a pay code.
func checkUnused(ctx context.Context, tx pgx.Tx, code *timekeepingv1.PayCode) error {
	if err := checkNoEdit(ctx, tx, code); err != nil {
		return err
	}
	return checkNoSubtype(ctx, tx, code)
}

// checkNoSubtype returns an error if a request subtype has a pay code as its default. It may have the name of
// a pay code without the id, because a pay code can be created later.
func checkNoSubtype(ctx context.Context, tx pgx.Tx, code *timekeepingv1.PayCode) error {
	var name string
	var body []byte
	var refs []*commonv1.Ref
	var names []string
	if err := pg.ForEach(ctx, tx, []any{&name, &body}, func() error {
		stored := &timekeepingv1.StoredRequestSubtype{}
		if err := proto.Unmarshal(body, stored); err != nil {
			return fmt.Errorf("decode a request subtype: %w", err)
		}
		if ref := stored.GetSubtype().GetTimeOffRequest().GetDefaultPayCode(); ref != nil {
			refs, names = append(refs, ref), append(names, name)
		}
		return nil
	}, listSubtypes, tenant.Of(ctx)); err != nil {
		return fmt.Errorf("find request subtypes of pay code %d: %w", code.GetId(), err)
	}
	if len(refs) == 0 {
		return nil
	}
	if _, err := namePresent(ctx, tx, refs); err != nil {
		return err
	}
	for i, ref := range refs {
		if ref.GetId() == code.GetId() {
			return Kind().InUseError(fmt.Sprintf("The request subtype %q", names[i]), code)
		}
	}
	return nil
}

// checkNoEdit returns an error if a timecard has a pay code edit of a pay code.
func checkNoEdit(ctx context.Context, tx pgx.Tx, code *timekeepingv1.PayCode) error {
	id, err := proto.Marshal(&commonv1.Ref{Id: code.Id})
	if err != nil {
		return err
	}
	var number, day, user string
	var body []byte
	if err := pg.ForEach(ctx, tx, []any{&number, &day, &body}, func() error {
		edit := &timekeepingv1.TimecardPayCodeEdit{}
		if err := proto.Unmarshal(body, edit); err != nil {
			return fmt.Errorf("decode a pay code edit: %w", err)
		}
		if user == "" && edit.GetPaycode().GetId() == code.GetId() {
			user = fmt.Sprintf("The timecard of %q on %s", number, day)
		}
		return nil
	}, listEdits, tenant.Of(ctx), id); err != nil {
		return fmt.Errorf("find pay code edits of pay code %d: %w", code.GetId(), err)
	}
	if user == "" {
		return nil
	}
	return Kind().InUseError(user, code)
}
