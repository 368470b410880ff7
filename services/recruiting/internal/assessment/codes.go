// Package assessment keeps the assessments of candidates: tests before the hire, and surveys for the work
// opportunity tax credit.
package assessment

import (
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

const (
	// CodeUnknown (404): the candidate has no assessment with the id. List the assessments of the candidate.
	CodeUnknown = "WRL-50701"
	// CodeMissing (400): a required property is missing. Send it.
	CodeMissing = "WRL-50702"
	// CodeInvalid (400): a property has a value that is not allowed. Correct it.
	CodeInvalid = "WRL-50703"
)

type assessment = recruitingv1.CandidateAssessment

var assessments = record.Table[*assessment]{Name: "candidate_assessment", What: "assessment", Unknown: CodeUnknown}
