package signoff

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Handler serves TimecardSignoffService.
type Handler struct {
	timekeepingv1.UnsafeTimecardSignoffServiceServer
	store  *Store
	finder *requested.Finder
}

var _ timekeepingv1.TimecardSignoffServiceServer = (*Handler)(nil)

// New returns a Handler that signs off timecards of a store.
func New(store *Store, finder *requested.Finder) *Handler {
	return &Handler{store: store, finder: finder}
}

// who returns the employee of the timecard, and the days.
func (h *Handler) who(ctx context.Context, ref *commonv1.Ref, dates requested.Dates) (person.Person, civil.Range, error) {
	days, err := h.finder.Days(ctx, dates)
	if err != nil {
		return person.Person{}, days, err
	}
	who, err := h.finder.EmployeeOn(ctx, ref, days)
	return who, days, err
}

// SignOffTimecard freezes the days of a timecard through the last of the given days.
func (h *Handler) SignOffTimecard(ctx context.Context, req *timekeepingv1.SignOffTimecardRequest) (*emptypb.Empty, error) {
	who, days, err := h.who(ctx, req.GetEmployee(), requested.InQuery(req))
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, h.store.SignOff(ctx, who, days)
}

// ImportTimecardSignoffs signs off timecards independently of each other.
func (h *Handler) ImportTimecardSignoffs(ctx context.Context, req *timekeepingv1.ImportTimecardSignoffsRequest) (*timekeepingv1.ImportTimecardSignoffsResponse, error) {
	if len(req.GetSignoffs()) == 0 {
		return nil, timecardfault.Missing("signoffs")
	}
	out := &timekeepingv1.ImportTimecardSignoffsResponse{}
	for _, given := range req.GetSignoffs() {
		made := &timekeepingv1.ImportedTimecardSignoff{Employee: given.GetEmployee()}
		who, days, err := h.who(ctx, given.GetEmployee(), requested.InItem(given))
		if err == nil {
			made.Employee = &commonv1.Ref{Id: &who.ID, Qualifier: &who.Number}
			err = h.store.SignOff(ctx, who, days)
		}
		if f := fault.FromError(err); err != nil && f.Status >= http.StatusInternalServerError {
			return nil, err
		} else if err != nil {
			made.TkError = &timekeepingv1.TkError{ErrorCode: f.Code, Message: f.Message}
		} else {
			made.ManagerSignOffThroughDate = (days.To - 1).String()
		}
		out.Signoffs = append(out.Signoffs, made)
	}
	return out, nil
}

// RemoveTimecardSignoff reopens signed-off days and all later days. It removes each affected
// sign-off as a whole.
func (h *Handler) RemoveTimecardSignoff(ctx context.Context, req *timekeepingv1.SignOffTimecardRequest) (*emptypb.Empty, error) {
	who, days, err := h.who(ctx, req.GetEmployee(), requested.InQuery(req))
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, h.store.Reopen(ctx, who.ID, days.From)
}

// ListTimecardSignoffs returns the last signed-off day of a timecard. A caller who sees the employee on some days
// only gets the last one of these days, because the days before a signed-off day are signed off, too.
func (h *Handler) ListTimecardSignoffs(ctx context.Context, req *timekeepingv1.ListTimecardSignoffsRequest) (*timekeepingv1.TimecardSignoffList, error) {
	who, visible, err := h.finder.EmployeeOnAnyDay(ctx, &commonv1.Ref{Id: req.EmployeeId, Qualifier: req.PersonNumber})
	if err != nil {
		return nil, err
	}
	signed, err := signoffs(ctx, h.store.pool, []int64{who.ID})
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.TimecardSignoff{
		Employee: &commonv1.Ref{Id: &who.ID, Qualifier: &who.Number, Name: &who.Number}, SignOffPending: proto.Bool(false),
	}
	if who.HireDate != nil {
		out.HireDate = who.HireDate.String()
	}
	if s, ok := signed[who.ID]; ok {
		if last, shown := visible.LastDay(who.ID, s.through); shown {
			out.ManagerSignOffThroughDate = last.String()
		}
	}
	return &timekeepingv1.TimecardSignoffList{Signoffs: []*timekeepingv1.TimecardSignoff{out}}, nil
}
