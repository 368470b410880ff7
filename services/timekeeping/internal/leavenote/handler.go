// Package leavenote keeps notes on leave cases.
package leavenote

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

const (
	// maxText is the maximum length of a note, in characters, and maxNotes the maximum number of
	// notes of a case.
	maxText  = 4000
	maxNotes = 1000
)

// Handler serves LeaveNoteService. The interceptors before it ensure that the context has a tenant.
type Handler struct {
	timekeepingv1.UnsafeLeaveNoteServiceServer
	pool    *pg.Pool
	persons *person.Directory
	now     func() time.Time
}

// New returns a Handler; now returns the time stamp of new notes.
func New(pool *pg.Pool, persons *person.Directory, now func() time.Time) *Handler {
	return &Handler{pool: pool, persons: persons, now: now}
}

// ListLeaveNotes returns the notes of a case, the oldest first.
func (h *Handler) ListLeaveNotes(ctx context.Context, req *timekeepingv1.ListLeaveNotesRequest) (*timekeepingv1.LeaveNoteList, error) {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	var c *leavecase.Case
	var notes []*note
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if c, err = leavecase.OneBy(ctx, tx, visible, req.LeaveCaseId, req.GetCode()); err == nil {
			notes, err = list(ctx, tx, c.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.LeaveNoteList{}
	for _, n := range notes {
		out.LeaveNotes = append(out.LeaveNotes, n.toProto(c))
	}
	return out, nil
}

// CreateLeaveNote adds a note to a case.
func (h *Handler) CreateLeaveNote(ctx context.Context, req *timekeepingv1.LeaveNote) (*timekeepingv1.LeaveNote, error) {
	if req.Id != nil {
		return nil, fault.Invalid(fault.CodeInput, "A new note must not have an id.")
	}
	c, err := leavecase.OfCaller(ctx, h.pool, h.persons, req.GetLeaveCase())
	if err != nil {
		return nil, err
	}
	n := &note{caseID: c.ID, day: civil.FromTime(clock.OfTenant(ctx, h.now()))}
	if err := n.set(ctx, req); err != nil {
		return nil, err
	}
	if err := h.write(ctx, n, insert); err != nil {
		return nil, err
	}
	return n.toProto(c), nil
}

// GetLeaveNote returns the note with the id in the path.
func (h *Handler) GetLeaveNote(ctx context.Context, req *timekeepingv1.GetLeaveNoteRequest) (*timekeepingv1.LeaveNote, error) {
	n, c, err := h.findNote(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return n.toProto(c), nil
}

// UpdateLeaveNote changes the given properties of the note with the id in the path.
func (h *Handler) UpdateLeaveNote(ctx context.Context, req *timekeepingv1.UpdateLeaveNoteRequest) (*timekeepingv1.LeaveNote, error) {
	n, c, err := h.findNote(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	sent := req.GetLeaveNote()
	if sent.GetLeaveCase() != nil {
		other, err := leavecase.OfCaller(ctx, h.pool, h.persons, sent.GetLeaveCase())
		if err != nil {
			return nil, err
		}
		if other.ID != c.ID {
			return nil, fault.Invalid(fault.CodeInput, "A note keeps its leave case. Create another note for another case.")
		}
	}
	if err := precondition.CheckGiven(ctx, fmt.Sprintf("leave note %d", n.id), n.version, sent.Version); err != nil {
		return nil, err
	}
	if err := n.set(ctx, sent); err != nil {
		return nil, err
	}
	n.version++
	if err := h.write(ctx, n, update); err != nil {
		return nil, err
	}
	return n.toProto(c), nil
}

// DeleteLeaveNote deletes the note with the id in the path.
func (h *Handler) DeleteLeaveNote(ctx context.Context, req *timekeepingv1.DeleteLeaveNoteRequest) (*emptypb.Empty, error) {
	n, _, err := h.findNote(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := precondition.Check(ctx, fmt.Sprintf("leave note %d", n.id), n.version); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, h.write(ctx, n, remove)
}

// write runs a change of a note in a transaction, which also writes the audit log.
func (h *Handler) write(ctx context.Context, n *note, do func(context.Context, pg.Querier, *note) error) error {
	return pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		return do(ctx, tx, n)
	})
}

// findNote returns a note and its case, or 404 if the note does not exist or the caller cannot see it.
func (h *Handler) findNote(ctx context.Context, id int64) (*note, *leavecase.Case, error) {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return nil, nil, err
	}
	var n *note
	var c *leavecase.Case
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if n, err = get(ctx, tx, id); err == nil {
			c, err = leavecase.One(ctx, tx, visible, &commonv1.Ref{Id: &n.caseID})
		}
		return err
	})
	if fault.HasCode(err, leavecase.CodeCaseUnknown) {
		return nil, nil, newUnknownError(id)
	}
	return n, c, err
}

// set copies the properties of a request to a note.
func (n *note) set(ctx context.Context, sent *timekeepingv1.LeaveNote) error {
	if sent.GetNoteText() != "" {
		n.text = sent.GetNoteText()
	}
	if strings.TrimSpace(n.text) == "" {
		return fault.Invalid(fault.CodeInput, "noteText is missing.")
	}
	if utf8.RuneCountInString(n.text) > maxText {
		return fault.Invalid(leavecase.CodeTooLong, fmt.Sprintf("noteText is longer than %d characters.", maxText))
	}
	if strings.ContainsFunc(n.text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }) {
		return fault.Invalid(fault.CodeInput, "noteText holds a control character.")
	}
	if text := sent.GetNoteDate(); text != "" {
		day, err := civil.ParseDate(text)
		if err != nil {
			return fault.Invalid(fault.CodeDate, "noteDate: "+err.Error()+".")
		}
		n.day = day.Clamp()
	}
	if p, ok := authn.From(ctx); ok {
		n.by = p.Subject
	}
	return nil
}

func newUnknownError(id int64) *fault.Error {
	return fault.NotFound(fault.CodeNotFound, fmt.Sprintf("There is no leave note with the id %d.", id))
}

func newStaleError(ctx context.Context, id int64) *fault.Error {
	return precondition.Stale(ctx, fmt.Sprintf("Somebody else changed the leave note %d. Read it again.", id))
}
