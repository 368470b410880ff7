package shifttemplate

import (
	"context"
	"crypto/sha256"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// wherePath is the path of the template in a request for equivalent templates.
const wherePath = "where.equivalent.shiftTemplate"

// ApplyReadShiftTemplates returns the templates that equal the given one except for names and
// descriptions, by name. If there are none, it creates the given template.
func (h *Handler) ApplyReadShiftTemplates(ctx context.Context, req *schedulingv1.ApplyReadShiftTemplatesRequest) (*schedulingv1.ShiftTemplateList, error) {
	given := req.GetWhere().GetEquivalent().GetShiftTemplate()
	if given == nil {
		return nil, patterndefinition.Missing(wherePath)
	}
	normalized := proto.CloneOf(given)
	if err := h.rules.Shift(wherePath, normalized); err != nil {
		return nil, err
	}
	if normalized.GetName() == "" {
		var err error
		if normalized.Name, err = newName(normalized); err != nil {
			return nil, err
		}
		normalized.SystemGenerated = proto.Bool(true)
	}
	if err := patterndefinition.Codes().CheckName(wherePath, normalized.GetName()); err != nil {
		return nil, err
	}
	list, err := h.findEquivalent(ctx, normalized)
	if err != nil || len(list) > 0 {
		return &schedulingv1.ShiftTemplateList{ShiftTemplates: list}, err
	}
	created, err := h.resource.Create(ctx, normalized)
	if err == nil {
		return &schedulingv1.ShiftTemplateList{ShiftTemplates: []*schedulingv1.ShiftTemplate{created}}, nil
	}
	if fault.FromError(err).Code != patterndefinition.Codes().Taken {
		return nil, err
	}
	// A concurrent request may have created the same template.
	if list, again := h.findEquivalent(ctx, normalized); again != nil || len(list) > 0 {
		return &schedulingv1.ShiftTemplateList{ShiftTemplates: list}, again
	}
	return nil, err
}

// findEquivalent returns the stored templates that equal a validated one except for name and
// description.
func (h *Handler) findEquivalent(ctx context.Context, wanted *schedulingv1.ShiftTemplate) ([]*schedulingv1.ShiftTemplate, error) {
	all, err := h.resource.Kind.All(ctx, h.resource.Pool)
	if err != nil {
		return nil, err
	}
	shift := withoutNames(wanted)
	var out []*schedulingv1.ShiftTemplate
	for _, t := range all {
		if proto.Equal(withoutNames(t), shift) {
			out = append(out, t)
		}
	}
	return out, nil
}

// withoutNames returns a template without computed properties, and without the properties that can
// differ between equivalent templates.
func withoutNames(t *schedulingv1.ShiftTemplate) *schedulingv1.ShiftTemplate {
	out := proto.CloneOf(t)
	out.Id, out.Version, out.Deleted, out.SystemGenerated = nil, "", nil, nil
	out.Name, out.Description = "", ""
	out.Locked = proto.Bool(out.GetLocked())
	return out
}

// newName returns a name for a template without one. It consists of the times and a digest of the
// content, so that only equivalent templates have equal names.
func newName(t *schedulingv1.ShiftTemplate) (string, error) {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(withoutNames(t))
	if err != nil {
		return "", fmt.Errorf("shift_template: encode: %w", err)
	}
	digest := sha256.Sum256(body)
	times := ""
	for _, text := range []string{t.GetStartDateTime(), t.GetEndDateTime()} {
		at, err := civil.ParseDateTime(text)
		if err != nil {
			return "", fmt.Errorf("shift_template: name: %w", err)
		}
		times += fmt.Sprintf("%02d:%02d-", at.Seconds/3600, at.Seconds/60%60)
	}
	return fmt.Sprintf("%s %x", times[:len(times)-1], digest[:4]), nil
}
