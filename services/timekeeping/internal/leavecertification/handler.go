// Package leavecertification keeps certifications of leave cases: confirmations by third parties.
package leavecertification

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

const (
	// maxNote is the maximum length of a note, in characters, and maxOfCase the maximum number of
	// certifications of a case.
	maxNote   = 4000
	maxOfCase = 200
)

// Handler serves LeaveCertificationService. The interceptors before it ensure that the context has
// a tenant.
type Handler struct {
	timekeepingv1.UnsafeLeaveCertificationServiceServer
	pool    *pg.Pool
	persons *person.Directory
}

// New returns a Handler.
func New(pool *pg.Pool, persons *person.Directory) *Handler {
	return &Handler{pool: pool, persons: persons}
}

// ListLeaveCertifications returns the certifications of a case by their first day.
func (h *Handler) ListLeaveCertifications(ctx context.Context, req *timekeepingv1.ListLeaveCertificationsRequest) (*timekeepingv1.LeaveCertificationList, error) {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.LeaveCertificationList{}
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		c, err := leavecase.OneBy(ctx, tx, visible, req.LeaveCaseId, req.GetCode())
		if err == nil {
			out.LeaveCertifications, err = list(ctx, tx, c)
		}
		if all := out.GetLeaveCertifications(); req.GetLast() && len(all) > 1 {
			out.LeaveCertifications = all[len(all)-1:]
		}
		return err
	})
	return out, err
}

// SaveLeaveCertification adds a certification to a case. If the request has an id, it replaces that
// certification of the case.
func (h *Handler) SaveLeaveCertification(ctx context.Context, req *timekeepingv1.LeaveCertification) (*timekeepingv1.LeaveCertification, error) {
	c, err := leavecase.OfCaller(ctx, h.pool, h.persons, req.GetLeaveCase())
	if err != nil {
		return nil, err
	}
	body := proto.CloneOf(req)
	body.Id, body.LeaveCase, body.EnteredBy, body.EnteredOn, body.Updated = nil, nil, nil, "", nil
	first, err := check(body)
	if err != nil {
		return nil, err
	}
	var by user
	if p, ok := authn.From(ctx); ok {
		by = user{name: p.Subject, person: p.PersonID}
	}
	var saved *timekeepingv1.LeaveCertification
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		saved, err = save(ctx, tx, c, req.GetId(), first, proto.CloneOf(body), by)
		return err
	})
	return saved, err
}

// check validates a certification, and returns its first day.
func check(c *timekeepingv1.LeaveCertification) (civil.Date, error) {
	if c.GetStartDate() == "" {
		return 0, fault.Invalid(leavecase.CodeRangeStartMissing, "startDate is missing.")
	}
	first, err := dates("startDate", c.GetStartDate(), "expirationDate", c.GetExpirationDate())
	if err != nil {
		return 0, err
	}
	_, err = dates("reducedScheduleStartDate", c.GetReducedScheduleStartDate(), "reducedScheduleEndDate", c.GetReducedScheduleEndDate())
	if err != nil {
		return 0, err
	}
	for _, amount := range []struct {
		name        string
		value, most int64
	}{
		{"durationDays", int64(c.GetDurationDays()), 36500},
		{"durationHours", c.GetDurationHours(), math.MaxInt32},
		{"frequencyEpisodesPerInterval", int64(c.GetFrequencyEpisodesPerInterval()), 36500},
		{"frequencyIntervalCount", int64(c.GetFrequencyIntervalCount()), 36500},
		{"totalHours", c.GetTotalHours(), math.MaxInt32},
		{"reducedScheduleDaysPerWeek", int64(c.GetReducedScheduleDaysPerWeek()), 7},
		{"reducedScheduleHoursPerDay", c.GetReducedScheduleHoursPerDay(), 24 * 60 * 60},
	} {
		if amount.value < 0 || amount.value > amount.most {
			return 0, fault.Invalid(fault.CodeInput, fmt.Sprintf("%s must be from 0 to %d.", amount.name, amount.most))
		}
	}
	if utf8.RuneCountInString(c.GetNote()) > maxNote {
		return 0, fault.Invalid(leavecase.CodeTooLong, fmt.Sprintf("note is longer than %d characters.", maxNote))
	}
	if strings.ContainsFunc(c.GetNote(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }) {
		return 0, fault.Invalid(fault.CodeInput, "note holds a control character.")
	}
	return first, nil
}

// dates returns the first of two dates, and an error if the second is before it. Either date may be
// missing.
func dates(fromName, from, toName, to string) (civil.Date, error) {
	first, last := civil.Beginning, civil.Forever
	var err error
	if from != "" {
		if first, err = civil.ParseDate(from); err != nil {
			return 0, fault.Invalid(fault.CodeDate, fromName+": "+err.Error()+".")
		}
	}
	if to != "" {
		if last, err = civil.ParseDate(to); err != nil {
			return 0, fault.Invalid(fault.CodeDate, toName+": "+err.Error()+".")
		}
	}
	if last < first {
		return 0, fault.Invalid(leavecase.CodeStartAfterEnd, fmt.Sprintf("%s is before %s.", toName, fromName))
	}
	return first.Clamp(), nil
}
