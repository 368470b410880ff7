// Package backgroundcheck keeps the background checks of candidates, and the requests to the vendors that
// carry them out.
package backgroundcheck

import (
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

const (
	// CodeUnknown (404): the candidate has no background check with the id. List the background checks of the candidate.
	CodeUnknown = "WRL-50704"
	// CodeMissing (400): a required property is missing. Send it.
	CodeMissing = "WRL-50705"
	// CodeInvalid (400): a property has a value that is not allowed. Correct it.
	CodeInvalid = "WRL-50706"
	// CodeTokenUnknown (400): token is not a token of a request. Take it from the last item of a list.
	CodeTokenUnknown = "WRL-50707"
	// CodeOrderTaken (409): another background check for the application has the order number. Replace that one.
	CodeOrderTaken = "WRL-50708"
	// CodeRequested (409): the application has a pending order request already. Nothing is to be done.
	CodeRequested = "WRL-50709"
)

type (
	backgroundCheck = recruitingv1.BackgroundCheck
	request         = recruitingv1.BackgroundCheckRequest
)

var (
	checks   = record.Table[*backgroundCheck]{Name: "background_check", What: "background check", Unknown: CodeUnknown}
	requests = record.Table[*request]{Name: "background_check_request", What: "background check request", Unknown: CodeUnknown}
)
