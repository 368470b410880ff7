// Package punch parses punches of requests, and stores them.
package punch

import (
	"time"

	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// Punch is a stored punch.
type Punch struct {
	worktime.Punch
	WorkRuleID *int64
	WorkRule   string
	// Body is read only for responses that show it.
	Body               []byte
	Entered, UpdatedAt time.Time
}

// ToProto returns a stored punch in the form of responses. Its body must have been read.
func (p *Punch) ToProto(employee *commonv1.Ref) *timekeepingv1.Punch {
	out := &timekeepingv1.Punch{}
	if err := proto.Unmarshal(p.Body, out); err != nil {
		out = &timekeepingv1.Punch{} // The body is unreadable, so only the columns are shown.
	}
	local := p.Local(p.At).String()
	out.Id, out.Employee, out.PunchDtm, out.OriginalPunchDtm = proto.Int64(p.ID), employee, local, local
	if out.GetEnteredOnDtm() == "" {
		out.EnteredOnDtm = p.Zone.At(p.Entered).String()
	}
	out.UpdatedOnDtm = p.Zone.At(p.UpdatedAt).String()
	out.TimeZone = &commonv1.Ref{Qualifier: proto.String(p.Zone.Name())}
	out.Instant = time.Unix(p.At, 0).UTC().Format(time.RFC3339)
	out.TypeOverride = directionRef(p.Direction)
	if p.NoDeduction {
		out.CancelDeduct, out.IsCancelDeduct = proto.Bool(true), proto.Bool(true)
	}
	out.HasComments = proto.Bool(len(out.GetCommentsNotes()) > 0)
	return out
}

func directionRef(d worktime.Direction) *commonv1.Ref {
	names := []string{worktime.In: inPunch, worktime.Out: outPunch}
	if d == worktime.Any {
		return nil
	}
	return &commonv1.Ref{Id: proto.Int64(int64(d)), Qualifier: &names[d]}
}
