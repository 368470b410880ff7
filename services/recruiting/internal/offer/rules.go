// Package offer keeps the offers to candidates, with the actions that change their status.
package offer

import (
	"fmt"
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

const (
	// CodeUnknown (404): no offer has the id, or the caller may not see it. List the offers.
	CodeUnknown = "WRL-50501"
	// CodeMissing (400): a required property is missing. Send it.
	CodeMissing = "WRL-50502"
	// CodeInvalid (400): a property has a value that is not allowed. Correct it.
	CodeInvalid = "WRL-50503"
	// CodeOpen (409): the application has an open offer already. Withdraw that offer first.
	CodeOpen = "WRL-50504"
	// CodeStatus (409): the status of the offer does not permit the action. Read the offer.
	CodeStatus = "WRL-50505"
	// CodeExpired (409): the offer has expired. Withdraw it, and create another one.
	CodeExpired = "WRL-50506"
)

type (
	offer  = recruitingv1.Offer
	action = recruitingv1.OfferAction
)

// The statuses of an offer.
const (
	draft           = "Draft"
	pendingApproval = "PendingApproval"
	approved        = "Approved"
	rejected        = "Rejected"
	sent            = "Sent"
	accepted        = "Accepted"
	declined        = "Declined"
	withdrawn       = "Withdrawn"
)

// submit is the action of submit-for-approval.
const submit = "SubmitForApproval"

// move is the effect of an action.
type move struct {
	from []string
	to   string
}

// moves has the effect of each action.
var moves = map[string]move{
	submit:     {[]string{draft}, pendingApproval},
	"Approve":  {[]string{pendingApproval}, approved},
	"Reject":   {[]string{pendingApproval}, rejected},
	"Send":     {[]string{approved}, sent},
	"Accept":   {[]string{sent}, accepted},
	"Decline":  {[]string{sent}, declined},
	"Withdraw": {[]string{draft, pendingApproval, approved, sent}, withdrawn},
}

// apply carries out an action on an offer, and writes both statuses into the action.
func apply(o *offer, a *action, now time.Time) error {
	m, ok := moves[a.GetAction()]
	switch {
	case a.GetAction() == "":
		return missing("action")
	case !ok:
		return fault.Invalid(CodeInvalid, "action must be SubmitForApproval, Approve, Reject, Send, Accept, Decline or Withdraw.").WithMembers("action")
	case !slices.Contains(m.from, o.GetStatus()):
		return fault.Conflict(CodeStatus, fmt.Sprintf("The offer has the status %s, which does not permit the action %s.", o.GetStatus(), a.GetAction()))
	}
	today := civil.FromTime(now.UTC())
	if m.to == accepted {
		if last, err := civil.ParseDate(o.GetExpirationDate()); err == nil && today > last {
			return fault.Conflict(CodeExpired, fmt.Sprintf("The offer expired after %s.", last))
		}
		if o.HireDetails == nil {
			o.HireDetails = &recruitingv1.HireDetails{}
		}
		o.HireDetails.AcceptDate = today.String()
	}
	a.OriginStatus, a.DestinationStatus = o.GetStatus(), m.to
	o.Status = m.to
	return nil
}

// isOpen reports whether an offer with a status keeps its application from having another one.
func isOpen(status string) bool {
	return status != rejected && status != declined && status != withdrawn
}

func missing(path string) error {
	return fault.Invalid(CodeMissing, path+" is missing. Send it.").WithMembers(path)
}
