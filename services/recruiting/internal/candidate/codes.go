// Package candidate keeps candidates, the people that apply for opportunities.
package candidate

import (
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

const (
	// CodeUnknown (404; 400 for one in a body): no candidate has the id, or the caller may not see it. List the candidates.
	CodeUnknown = "WRL-50201"
	// CodeMissing (400): a required property is missing. Send it.
	CodeMissing = "WRL-50202"
	// CodeInvalid (400): a property has a value that is not allowed. Correct it.
	CodeInvalid = "WRL-50203"
	// CodeEmailTaken (409): another candidate has the e-mail address. Look it up with candidates-lookup.
	CodeEmailTaken = "WRL-50204"
	// CodePersonTaken (409): another candidate is the person. Use that candidate.
	CodePersonTaken = "WRL-50205"
	// CodeItemUnknown (404): the list of the candidate has no item with the id. Read the list.
	CodeItemUnknown = "WRL-50206"
	// CodeItemTaken (409): the list of the candidate has the item already. Nothing is to be done.
	CodeItemTaken = "WRL-50207"
	// CodeListFull (409): the list of the candidate has the largest number of items. Nothing can be added.
	CodeListFull = "WRL-50208"
)

type (
	candidate = recruitingv1.Candidate
	byID      = recruitingv1.GetCandidateRequest
)

// Candidates is the table of candidates. Callers must restrict it to the Visible ones.
var Candidates = record.Table[*candidate]{Name: "candidate", What: "candidate", Unknown: CodeUnknown}
