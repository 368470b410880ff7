// Package opportunity keeps opportunities, the requisitions that applicants apply for, with their
// screening questions, their assessments and the recruiters that they are shared with.
package opportunity

import (
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

const (
	// CodeUnknown (404; 400 for one in a body): no opportunity has the id, or the caller may not see it. List the opportunities.
	CodeUnknown = "WRL-50301"
	// CodeMissing (400): a required property is missing. Send it.
	CodeMissing = "WRL-50302"
	// CodeInvalid (400): a property has a value that is not allowed. Correct it.
	CodeInvalid = "WRL-50303"
	// CodeNumberTaken (409): another opportunity has the requisition number. Choose another one, or leave it out.
	CodeNumberTaken = "WRL-50304"
	// CodeIncomplete (400): the opportunity lacks properties that publishing needs. Create an opportunity with them.
	CodeIncomplete = "WRL-50305"
	// CodeStatus (409): the status of the opportunity does not permit the action. Read the opportunity.
	CodeStatus = "WRL-50306"
	// CodeFilled (409): all positions of the opportunity are filled. Hire for another opportunity.
	CodeFilled = "WRL-50307"
	// CodeQuestionUnknown (404; 400 for one in a body): the opportunity has no screening question or country question with the id. List its questions.
	CodeQuestionUnknown = "WRL-50308"
	// CodeQuestionAnswered (409): applications have answered the screening question. Deactivate it, and create another one.
	CodeQuestionAnswered = "WRL-50309"
	// CodeAssessmentUnknown (404): the opportunity has no assessment with the id. List its assessments.
	CodeAssessmentUnknown = "WRL-50310"
	// CodeAssessmentTaken (409): another assessment of the opportunity has the name. Choose another name.
	CodeAssessmentTaken = "WRL-50311"
	// CodeShared (409): the opportunity is shared with the recruiter already. Nothing is to be done.
	CodeShared = "WRL-50312"
	// CodeJobUnknown (400): no job has the code today. Create the job, or send the code of another one.
	CodeJobUnknown = "WRL-50313"
	// CodeAnswer (400): an answer to a question of the opportunity is missing, or does not fit the question. Correct it.
	CodeAnswer = "WRL-50314"
)

type (
	opportunity = recruitingv1.Opportunity
	byID        = recruitingv1.GetOpportunityRequest
)

// Opportunities is the table of opportunities. Callers must restrict it to the Visible ones.
var Opportunities = record.Table[*opportunity]{Name: "opportunity", What: "opportunity", Unknown: CodeUnknown}
