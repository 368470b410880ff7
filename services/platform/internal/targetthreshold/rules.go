package targetthreshold

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Codes of this product.
const (
	// CodeInvalid (400): the value of a property is invalid.
	CodeInvalid = "WRL-60801"
	// CodeMissing (400): a required property is missing.
	CodeMissing = "WRL-60802"
	// CodeTaken (400): another target threshold has the name. Choose another name.
	CodeTaken = "WRL-60803"
	// CodeUnknown (404): there is no such target threshold.
	CodeUnknown = "WRL-60804"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WRL-60805"
	// CodeNotExpired (400): the target threshold has not expired yet. Delete it after its expiration date.
	CodeNotExpired = "WRL-60806"
)

const (
	maxText = 1000
	// maxSize is the largest stored target threshold, in bytes.
	maxSize = 256 << 10
	// maxNamed is the largest number of references in a function or a location.
	maxNamed = 1000
)

// prepare validates a target threshold, and writes its words in the canonical form.
func prepare(_ string, t *platformv1.TargetThreshold) (*platformv1.TargetThreshold, error) {
	for _, text := range []struct{ path, value string }{
		{"description", t.GetDescription()}, {"shortName", t.GetShortName()}, {"targetConfigBatchId", t.GetTargetConfigBatchId()},
	} {
		if utf8.RuneCountInString(text.value) > maxText {
			return nil, invalid(text.path, fmt.Sprintf("must have at most %d characters", maxText))
		}
	}
	if t.GetDescription() == "" {
		return nil, missing("description")
	}
	var err error
	if t.TargetType, err = matchWord("targetType", t.GetTargetType(), types()); err != nil {
		return nil, err
	}
	if t.EvaluationPeriod, err = matchWord("evaluationPeriod", t.GetEvaluationPeriod(), periodNames()); err != nil {
		return nil, err
	}
	if t.GetExpirationDate() == "" {
		return nil, missing("expirationDate")
	}
	if ref := t.GetCurrencyRef(); ref.GetId() == 0 && ref.GetQualifier() == "" {
		return nil, missing("currencyRef, by id or qualifier,")
	}
	if err := checkFunction(t.GetTargetFunction()); err != nil {
		return nil, err
	}
	if err := checkLocation(t.GetTargetLocation()); err != nil {
		return nil, err
	}
	if err := checkThresholds(t.GetThresholds()); err != nil {
		return nil, err
	}
	if n := proto.Size(t); n > maxSize {
		return nil, fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("The target threshold has %d bytes, and may have %d.", n, maxSize))
	}
	return t, nil
}

func missing(path string) error       { return fault.Invalid(CodeMissing, path+" is missing.") }
func invalid(path, what string) error { return fault.Invalid(CodeInvalid, path+" "+what+".") }

func types() []string { return []string{"STANDARD", "HCA"} }

func periodNames() (names []string) {
	for _, p := range evaluationPeriods() {
		names = append(names, p.GetName())
	}
	return names
}

// matchWord returns the word that equals a text, ignoring case.
func matchWord(path, text string, words []string) (string, error) {
	if text == "" {
		return "", missing(path)
	}
	for _, word := range words {
		if strings.EqualFold(word, text) {
			return word, nil
		}
	}
	return "", fault.Invalid(CodeInvalid, suggest.NotOneOf(path, text, words...))
}

// function returns the kind and the references of the measured function. The references are nil unless exactly
// one kind is set.
func function(f *platformv1.TargetFunction) (kind string, refs *platformv1.TargetFunctionRefs) {
	for _, part := range []struct {
		kind string
		refs *platformv1.TargetFunctionRefs
	}{{"metrics", f.GetMetrics()}, {"kpis", f.GetKpis()}, {"metricsets", f.GetMetricsets()}} {
		if part.refs == nil {
			continue
		}
		if refs != nil {
			return "", nil
		}
		kind, refs = part.kind, part.refs
	}
	return kind, refs
}

func checkFunction(f *platformv1.TargetFunction) error {
	if err := fault.ExactlyOne(CodeMissing, "targetFunction", "metrics, kpis and metricsets",
		f.GetMetrics() != nil, f.GetKpis() != nil, f.GetMetricsets() != nil); err != nil {
		return err
	}
	_, refs := function(f)
	n := reflist.Len(refs) + len(refs.GetFunctionDefs())
	switch {
	case n == 0:
		return fault.Invalid(CodeMissing, "targetFunction names nothing.")
	case n > maxNamed:
		return invalid("targetFunction", fmt.Sprintf("may name at most %d", maxNamed))
	}
	return nil
}

// location returns the kind and the references of the location. The references are nil unless exactly one kind
// is set.
func location(l *platformv1.TargetLocation) (string, *commonv1.RefList) {
	switch {
	case (l.GetOrgs() == nil) == (l.GetWorkunits() == nil):
		return "", nil
	case l.GetOrgs() != nil:
		return "orgs", l.GetOrgs()
	}
	return "workunits", l.GetWorkunits()
}

func checkLocation(l *platformv1.TargetLocation) error {
	if err := fault.ExactlyOne(CodeMissing, "targetLocation", "orgs and workunits", l.GetOrgs() != nil, l.GetWorkunits() != nil); err != nil {
		return err
	}
	_, refs := location(l)
	n := reflist.Len(refs)
	switch {
	case n == 0:
		return fault.Invalid(CodeMissing, "targetLocation names nothing.")
	case n > maxNamed:
		return invalid("targetLocation", fmt.Sprintf("may name at most %d", maxNamed))
	}
	return nil
}

func checkThresholds(list []*platformv1.Threshold) error {
	if len(list) == 0 {
		return missing("thresholds")
	}
	for i, t := range list {
		path := fmt.Sprintf("thresholds[%d].", i)
		switch {
		case t.Id == nil:
			return missing(path + "id")
		case t.OperatorId == nil:
			return missing(path + "operatorId")
		case t.GetOperatorId() < 1 || t.GetOperatorId() > int64(len(operators())):
			return invalid(path+"operatorId", fmt.Sprintf("must be from 1 to %d", len(operators())))
		case t.Value == nil:
			return missing(path + "value")
		case t.MaxValue == nil:
			return missing(path + "maxValue")
		case t.GetMaxValue() < t.GetValue():
			return invalid(path+"maxValue", "must not be less than value")
		case t.GetIndicatorText() == "":
			return missing(path + "indicatorText")
		case utf8.RuneCountInString(t.GetIndicatorText()) > maxText || utf8.RuneCountInString(t.GetName()) > maxText:
			return invalid(path+"indicatorText", fmt.Sprintf("and name must have at most %d characters", maxText))
		}
	}
	return nil
}
