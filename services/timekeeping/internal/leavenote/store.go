package leavenote

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

// note is a stored note.
type note struct {
	id, caseID, version int64
	day                 civil.Date
	text, by            string
}

func (n *note) toProto(c *leavecase.Case) *timekeepingv1.LeaveNote {
	return &timekeepingv1.LeaveNote{
		Id: &n.id, LeaveCase: c.Ref(), NoteText: n.text, NoteDate: n.day.String(), UpdatedByAccountName: n.by, Version: &n.version,
	}
}

const selectNotes = `SELECT id, leave_case_id, version, note_date, note_text, updated_by FROM leave_note WHERE tenant_id = $1 AND `

func scan(row pgx.CollectableRow) (*note, error) {
	n := &note{}
	var day civil.Date
	err := row.Scan(&n.id, &n.caseID, &n.version, &day, &n.text, &n.by)
	n.day = day
	return n, err
}

func list(ctx context.Context, db pg.Querier, caseID int64) ([]*note, error) {
	rows, err := db.Query(ctx, selectNotes+`leave_case_id = $2 ORDER BY id LIMIT $3`, tenant.Of(ctx), caseID, maxNotes)
	if err != nil {
		return nil, err
	}
	notes, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("read leave notes: %w", err)
	}
	return notes, nil
}

func get(ctx context.Context, db pg.Querier, id int64) (*note, error) {
	rows, err := db.Query(ctx, selectNotes+`id = $2`, tenant.Of(ctx), id)
	if err != nil {
		return nil, err
	}
	n, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, newUnknownError(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read leave note: %w", err)
	}
	return n, nil
}

// insert stores a new note. Concurrent requests can exceed the maximum number by a few. The limit
// only prevents endless lists.
func insert(ctx context.Context, db pg.Querier, n *note) error {
	err := db.QueryRow(ctx, `INSERT INTO leave_note (tenant_id, leave_case_id, note_date, note_text, updated_by)
		SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM leave_note WHERE tenant_id = $1 AND leave_case_id = $2) < $6
		RETURNING id, version`, tenant.Of(ctx), n.caseID, n.day, n.text, n.by, maxNotes).Scan(&n.id, &n.version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fault.Invalid(fault.CodeInput, fmt.Sprintf("The leave case has %d notes already. Delete some of them.", maxNotes))
	case pgerr.IsForeignKey(err, ""):
		return fault.Invalid(leavecase.CodeCaseUnknown, "The leave case was deleted.").WithCause(err)
	case err != nil:
		return fmt.Errorf("store leave note: %w", err)
	}
	return nil
}

// update stores a changed note, which has its new version. It returns an error if another request
// has changed the note since it was read.
func update(ctx context.Context, db pg.Querier, n *note) error {
	done, err := db.Exec(ctx, `UPDATE leave_note SET note_date = $4, note_text = $5, updated_by = $6, version = $3
		WHERE tenant_id = $1 AND id = $2 AND version = $3 - 1`,
		tenant.Of(ctx), n.id, n.version, n.day, n.text, n.by)
	if err != nil {
		return fmt.Errorf("store leave note: %w", err)
	}
	if done.RowsAffected() == 0 {
		return newStaleError(ctx, n.id)
	}
	return nil
}

// remove deletes a note. If the request has an If-Match header, the note must still have the
// version that was compared with it.
func remove(ctx context.Context, db pg.Querier, n *note) error {
	done, err := db.Exec(ctx, `DELETE FROM leave_note WHERE tenant_id = $1 AND id = $2 AND ($3::bigint[] IS NULL OR version = ANY ($3))`,
		tenant.Of(ctx), n.id, precondition.Versions(ctx, nil))
	if err != nil {
		return fmt.Errorf("delete leave note: %w", err)
	}
	if done.RowsAffected() == 0 && precondition.Of(ctx).Given() {
		return newStaleError(ctx, n.id)
	}
	return nil
}
