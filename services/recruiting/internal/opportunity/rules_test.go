package opportunity

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const board = "0d5b6c7e-1111-4a2b-9c3d-222233334444"

// full returns an opportunity that has all properties that publishing needs.
func full() *opportunity {
	return &opportunity{
		Title:             map[string]string{"en_us": "Ward nurse"},
		Description:       &recruitingv1.OpportunityDescription{Brief: &recruitingv1.Audiences{External: map[string]string{"en_us": "Care"}}},
		Job:               &recruitingv1.OpportunityJob{Code: "N"},
		RecruitingProcess: &ref{Id: board},
		JobBoards:         []*recruitingv1.OpportunityJobBoard{{Id: board}},
	}
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	caller := record.PersonGUID(7)
	o := full()
	o.Status, o.Id, o.IsDeleted, o.HeadCount = Closed, board, true, &recruitingv1.HeadCount{Hired: proto.Int32(4)}
	o.JobBoards[0].IsPublishedExternal = true
	require.NoError(t, prepare(o, caller))
	assert.Equal(t, Draft, o.GetStatus())
	assert.Empty(t, o.GetId())
	assert.False(t, o.GetIsDeleted() || o.GetJobBoards()[0].GetIsPublishedExternal())
	assert.Equal(t, caller, o.GetRecruiter().GetId())
	assert.EqualValues(t, 1, o.GetHeadCount().GetMax())
	assert.Zero(t, o.GetHeadCount().GetHired())

	for _, c := range []struct {
		name, code, member string
		change             func(*opportunity)
	}{
		{"a number of the product", CodeInvalid, "requisition_number", func(o *opportunity) { o.RequisitionNumber = " req7 " }},
		{"a job without a code", CodeMissing, "job.code", func(o *opportunity) { o.Job = &recruitingv1.OpportunityJob{} }},
		{"a job board without an id", CodeMissing, "job_boards[0].id", func(o *opportunity) { o.JobBoards[0].Id = "" }},
		{"a job board twice", CodeInvalid, "job_boards[1].id", func(o *opportunity) { o.JobBoards = append(o.JobBoards, &recruitingv1.OpportunityJobBoard{Id: board}) }},
		{"an address without https", CodeInvalid, "job_boards[0].recruiting_apply_url", func(o *opportunity) { o.JobBoards[0].RecruitingApplyUrl = "javascript:alert(1)" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := full()
			c.change(o)
			err := prepare(o, "")
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
}

func TestPublishNamesTheMissingProperties(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		change  func(*opportunity)
		missing []string
	}{
		{"complete", func(*opportunity) {}, nil},
		{"no title", func(o *opportunity) { o.Title = map[string]string{"en_us": " "} }, []string{"title"}},
		{"a brief text for employees only", func(o *opportunity) {
			o.Description.Brief = &recruitingv1.Audiences{Internal: map[string]string{"en_us": "Care"}}
		}, nil},
		{"no brief text", func(o *opportunity) { o.Description = nil }, []string{"description.brief"}},
		{"no job", func(o *opportunity) { o.Job = nil }, []string{"job.code"}},
		{"no process", func(o *opportunity) { o.RecruitingProcess = nil }, []string{"recruiting_process"}},
		{"no board", func(o *opportunity) { o.JobBoards = nil }, []string{"job_boards"}},
		{"nothing", func(o *opportunity) { proto.Reset(o) }, []string{"description.brief", "job.code", "job_boards", "recruiting_process", "title"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := full()
			c.change(o)
			require.NoError(t, prepare(o, ""))
			err := publish(o, now)
			if c.missing == nil {
				require.NoError(t, err)
				assert.Equal(t, Published, o.GetStatus())
				assert.Equal(t, "2026-03-01T12:00:00.000000Z", o.GetPublishedDate())
				return
			}
			require.True(t, fault.HasCode(err, CodeIncomplete), "%v", err)
			assert.ElementsMatch(t, c.missing, fault.FromError(err).Members)
			assert.Equal(t, Draft, o.GetStatus())
		})
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	actions := map[string]func(*opportunity, time.Time) error{"publish": publish, "refresh": refresh, "close": closeOpening}
	permitted := map[string]string{"publish": Draft, "refresh": Published, "close": Published}
	for action, change := range actions {
		for _, status := range []string{Draft, Published, Closed} {
			t.Run(action+" "+status, func(t *testing.T) {
				t.Parallel()
				o := full()
				require.NoError(t, prepare(o, ""))
				o.Status = status
				err := change(o, now)
				if permitted[action] == status {
					require.NoError(t, err)
					return
				}
				require.True(t, fault.HasCode(err, CodeStatus) && fault.HasStatus(err, 409), "%v", err)
				assert.Equal(t, status, o.GetStatus())
			})
		}
	}
}

func TestHiresFillPositions(t *testing.T) {
	t.Parallel()
	for name, continuous := range map[string]bool{"closes": false, "stays open": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := full()
			o.HeadCount, o.IsContinuousOpening = &recruitingv1.HeadCount{Max: proto.Int32(2)}, &continuous
			require.NoError(t, prepare(o, ""))
			require.NoError(t, publish(o, now))
			o.JobBoards[0].IsPublishedExternal = true
			require.NoError(t, hire(o, 0.5, now))
			assert.Equal(t, Published, o.GetStatus())
			require.NoError(t, hire(o, 1, now))
			assert.InDelta(t, 1.5, o.GetFullTimeEquivalent().GetFilled(), 0)
			if continuous {
				require.NoError(t, hire(o, 1, now))
				assert.Equal(t, Published, o.GetStatus())
				assert.EqualValues(t, 3, o.GetHeadCount().GetHired())
				assert.Zero(t, show(&record.Record[*opportunity]{Body: o}).GetHeadCount().GetRemaining())
				return
			}
			assert.Equal(t, Closed, o.GetStatus())
			assert.False(t, o.GetJobBoards()[0].GetIsPublishedExternal())
			require.True(t, fault.HasCode(hire(o, 1, now), CodeFilled))
			assert.EqualValues(t, 2, o.GetHeadCount().GetHired())
		})
	}
}

func TestCheckQuestion(t *testing.T) {
	t.Parallel()
	asked := map[string]string{"en_us": "Why?"}
	for _, c := range []struct {
		name, code, member string
		question           *question
	}{
		{"a text", "", "", &question{Question: asked, Type: text}},
		{"a number", "", "", &question{Question: asked, Type: numeric}},
		{"choices", "", "", &question{Question: asked, Type: multipleChoice, Choices: []string{"a", "b"}}},
		{"no question", CodeMissing, "question", &question{Type: text}},
		{"no type", CodeMissing, "type", &question{Question: asked}},
		{"an unknown type", CodeInvalid, "type", &question{Question: asked, Type: "text"}},
		{"one choice", CodeInvalid, "choices", &question{Question: asked, Type: multipleChoice, Choices: []string{"a"}}},
		{"an empty choice", CodeMissing, "choices[1]", &question{Question: asked, Type: multipleChoice, Choices: []string{"a", " "}}},
		{"a choice twice", CodeInvalid, "choices[1]", &question{Question: asked, Type: multipleChoice, Choices: []string{"a", "a"}}},
		{"choices of a text", CodeInvalid, "choices", &question{Question: asked, Type: text, Choices: []string{"a", "b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := checkQuestion(c.question)
			if c.code == "" {
				require.NoError(t, err)
				assert.True(t, c.question.GetIsActive())
				return
			}
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
}

func TestCheckAnswers(t *testing.T) {
	t.Parallel()
	active := func(id string, q *question) *record.Record[*question] {
		q.IsActive = proto.Bool(true)
		return &record.Record[*question]{ID: id, Body: q}
	}
	list := []*record.Record[*question]{
		active("a", &question{Type: multipleChoice, Choices: []string{"Yes", "No"}, IsRequired: true}),
		active("b", &question{Type: numeric}), active("c", &question{Type: text}),
		{ID: "d", Body: &question{Type: text, IsRequired: true}},
	}
	yes := Answer{"A", "Yes", ""}
	for _, c := range []struct {
		name, code, member string
		answers            []Answer
	}{
		{"all", "", "", []Answer{yes, {"b", "2.5", ""}, {"c", "x", ""}}},
		{"the required one alone", "", "", []Answer{yes}},
		{"none", CodeAnswer, "responses", nil},
		{"an unknown question", CodeQuestionUnknown, "responses[0].question.id", []Answer{{"x", "1", ""}}},
		{"an inactive question", CodeQuestionUnknown, "responses[1].question.id", []Answer{yes, {"d", "1", ""}}},
		{"an answer twice", CodeAnswer, "responses[1].question.id", []Answer{yes, yes}},
		{"an unknown choice", CodeAnswer, "responses[0].response", []Answer{{"a", "yes", ""}}},
		{"a text for a number", CodeAnswer, "responses[1].response", []Answer{yes, {"b", "two", ""}}},
		{"NaN", CodeAnswer, "responses[1].response", []Answer{yes, {"b", "NaN", ""}}},
		{"an empty text", CodeAnswer, "responses[1].response", []Answer{yes, {"c", " ", ""}}},
		{"a long text", CodeAnswer, "responses[1].response", []Answer{yes, {"c", string(make([]rune, maxAnswer)) + "xx", ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := checkAnswers("responses", list, c.answers)
			if c.code == "" {
				require.NoError(t, err)
				return
			}
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
}

func TestQuestionsOfCountries(t *testing.T) {
	t.Parallel()
	countries := func(codes ...string) (out []string) {
		for _, q := range listQuestions(codes) {
			out = append(out, q.GetCountry())
		}
		return out
	}
	assert.Equal(t, []string{"US", "US", "DE"}, countries("USA", "us", "DEU", "", "XX"))
	assert.Equal(t, []string{"CA", "GB"}, countries("CAN", "GB"))
	assert.Equal(t, listQuestions([]string{"DE"})[0].GetId(), listQuestions([]string{"DEU"})[0].GetId())
	for code, list := range countryQuestions {
		for _, q := range list {
			assert.True(t, hasText(q.texts), code)
		}
	}
}
