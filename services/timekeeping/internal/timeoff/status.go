package timeoff

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// status is the status of a request.
type status int64

// The ids of the statuses in the API. Statuses of other request types of the reference product are
// left out.
const (
	submitted       status = 2
	pending         status = 3
	approved        status = 4
	refused         status = 5
	cancelSubmitted status = 6
	cancelled       status = 8
	retracted       status = 12
)

// names are the display names of the statuses. A symbolic id is the name in capitals, without
// spaces.
var names = map[status]string{
	submitted: "Submitted", pending: "Pending", approved: "Approved", refused: "Refused",
	cancelSubmitted: "Cancel Submitted", cancelled: "Cancelled", retracted: "Retracted",
}

// side is the role of the user who changes a request: its employee, or a user who decides it.
type side int

const (
	employeeSide side = iota
	managerSide
)

// steps are the changes that each side may make.
var steps = map[side]map[status][]status{
	employeeSide: {
		submitted: {cancelled, retracted}, pending: {cancelled, retracted},
		approved: {cancelSubmitted}, cancelSubmitted: {approved},
	},
	managerSide: {
		submitted: {pending, approved, refused, cancelled}, pending: {approved, refused, cancelled},
		approved: {cancelled}, cancelSubmitted: {approved, cancelled},
	},
}

// undecided are the statuses of requests that wait for a decision. active are the statuses of
// requests that use their days, or may use them after a decision.
var (
	undecided = []status{submitted, pending, cancelSubmitted}
	active    = []status{submitted, pending, approved, cancelSubmitted}
)

// covers reports whether requests of a status are on the schedule.
func (s status) covers() bool { return s == approved || s == cancelSubmitted }

func (s status) symbolicID() string {
	return strings.ToUpper(strings.ReplaceAll(names[s], " ", ""))
}

func (s status) message() *timekeepingv1.RequestStatus {
	return &timekeepingv1.RequestStatus{Id: proto.Int64(int64(s)), Name: names[s], SymbolicId: s.symbolicID()}
}

func messages(list []status) []*timekeepingv1.RequestStatus {
	out := make([]*timekeepingv1.RequestStatus, len(list))
	for i, s := range list {
		out[i] = s.message()
	}
	return out
}

// parseStatus returns the status that a request names by id, symbolic id or name. The id has priority.
func parseStatus(given *timekeepingv1.RequestStatus) (status, error) {
	for s, name := range names {
		symbolic := strings.TrimPrefix(strings.ToUpper(given.GetSymbolicId()), "REQUEST_STATE_")
		switch {
		case given.Id != nil:
			if given.GetId() == int64(s) {
				return s, nil
			}
		case symbolic != "":
			if symbolic == s.symbolicID() {
				return s, nil
			}
		case strings.EqualFold(given.GetName(), name) || strings.EqualFold(given.GetName(), s.symbolicID()):
			return s, nil
		}
	}
	var known []string
	for s := range names {
		known = append(known, s.symbolicID())
	}
	slices.Sort(known)
	return 0, fault.Invalid(CodeStatus, "changeState.do.toStatus must be one of "+strings.Join(known, ", ")+".")
}

// next returns the status that results from a change by a side, or an error if the side cannot make
// the change. An employee's cancellation of an approved request is only submitted, unless it takes
// effect without approval.
func next(by side, from, to status, cancelsItself bool) (status, error) {
	if by == employeeSide && from == approved && (to == cancelled || to == cancelSubmitted) {
		if cancelsItself {
			return cancelled, nil
		}
		return cancelSubmitted, nil
	}
	if !slices.Contains(steps[by][from], to) {
		return 0, fault.Invalid(CodeChange, "The status of the request is "+from.symbolicID()+"; it cannot be changed to "+to.symbolicID()+".")
	}
	return to, nil
}
