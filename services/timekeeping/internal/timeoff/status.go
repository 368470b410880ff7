package timeoff

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// status is what has become of a request.
type status int64

// The ids of the statuses on the wire. Those of the reference product's other kinds
// of requests are left out.
const (
	submitted       status = 2
	pending         status = 3
	approved        status = 4
	refused         status = 5
	cancelSubmitted status = 6
	cancelled       status = 8
	retracted       status = 12
)

// names are what people call the statuses. A symbolic id is the name in capitals,
// without spaces.
var names = map[status]string{
	submitted: "Submitted", pending: "Pending", approved: "Approved", refused: "Refused",
	cancelSubmitted: "Cancel Submitted", cancelled: "Cancelled", retracted: "Retracted",
}

// side is who changes a request: its employee, or somebody who decides on it.
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

// undecided, and active, are the statuses of requests that wait for a decision, and of
// those whose days are, or may come to be, taken.
var (
	undecided = []status{submitted, pending, cancelSubmitted}
	active    = []status{submitted, pending, approved, cancelSubmitted}
)

// covers reports whether requests of a status stand on the schedule.
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

// statusOf returns the status that a request names: by id, which wins, symbolic id
// or name.
func statusOf(given *timekeepingv1.RequestStatus) (status, error) {
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

// next returns the status that a request gets when a side changes it to another one,
// or an error when it cannot. Who asks to cancel what is approved only asks for it,
// unless that is granted by itself.
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
