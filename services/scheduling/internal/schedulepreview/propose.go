package schedulepreview

import (
	"context"
	"crypto/sha256"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// windowDays limits the days of a window.
var windowDays = policy.FindLimit[*schedulingv1.PreviewWindow]("days of a preview")

// propose returns the decision of the previewed change, and the digest of the real request.
func (h *Handler) propose(ctx context.Context, req *schedulingv1.CreateSchedulePreviewRequest) (proposal.Decide, []byte, error) {
	if err := fault.ExactlyOne(codeChoice, "The request", "applyCreate, applyUpdate, delete and undo",
		req.GetApplyCreate() != nil, req.GetApplyUpdate() != nil, req.GetDelete() != nil, req.GetUndo() != nil); err != nil {
		return nil, nil, err
	}
	switch {
	case req.GetApplyCreate() != nil:
		inputs := req.GetApplyCreate().GetGroupSchedulePatterns().GetDo().GetGroupSchedulePatternCreates()
		if len(inputs) == 0 {
			return nil, nil, fault.Invalid(patterndefinition.CodeNothing, "applyCreate.groupSchedulePatterns.do.groupSchedulePatternCreates needs at least one element.")
		}
		digest, err := requestDigest(req.GetApplyCreate())
		if err != nil {
			return nil, nil, err
		}
		decide, err := h.deps.Terms.ProposeCreate(ctx, inputs)
		return decide, digest, err
	case req.GetApplyUpdate() != nil:
		digest, err := requestDigest(req.GetApplyUpdate())
		if err != nil {
			return nil, nil, err
		}
		decide, err := h.deps.Terms.ProposeUpdate(ctx, req.GetApplyUpdate())
		return decide, digest, err
	case req.GetUndo() != nil:
		return h.proposeUndo(ctx, req.GetUndo())
	default:
		if len(req.GetDelete().GetIds()) == 0 {
			return nil, nil, patterndefinition.Missing("delete.ids")
		}
		digest, err := requestDigest(req.GetDelete())
		if err != nil {
			return nil, nil, err
		}
		decide, err := h.deps.Terms.ProposeDelete(ctx, req.GetDelete().GetIds())
		return decide, digest, err
	}
}

// proposeUndo returns the decision of an undo, and the digest that [propagation.Handler.UndoPropagation]
// asks for.
func (h *Handler) proposeUndo(ctx context.Context, undo *schedulingv1.PreviewedUndo) (proposal.Decide, []byte, error) {
	if undo.PropagationId == nil {
		return nil, nil, patterndefinition.Missing("undo.propagationId")
	}
	mode, remaining, err := propagation.CheckMode("undo.mode", undo.GetMode())
	if err != nil {
		return nil, nil, err
	}
	digest, err := requestDigest(&schedulingv1.PreviewedUndo{PropagationId: undo.PropagationId, Mode: mode})
	if err != nil {
		return nil, nil, err
	}
	target, err := propagation.ReadUndoable(ctx, h.deps.Pool, undo.GetPropagationId())
	if err != nil {
		return nil, nil, err
	}
	decide, err := h.deps.ProposeUndo(ctx, &propagation.UndoRequest{Target: target, Remaining: remaining})
	return decide, digest, err
}

// requestDigest returns the digest of the body of a request that changes patterns. Bodies of
// different operations have different digests.
func requestDigest(body proto.Message) ([]byte, error) {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("schedulepreview: encode request: %w", err)
	}
	sum := sha256.New()
	sum.Write([]byte(body.ProtoReflect().Descriptor().FullName()))
	sum.Write([]byte{0})
	sum.Write(text)
	return sum.Sum(nil), nil
}

// readWindow parses the days of a request. It returns an empty range if the request names none.
func readWindow(w *schedulingv1.PreviewWindow) (civil.Range, error) {
	if w == nil {
		return civil.Range{}, nil
	}
	from, err := readDate("window.startDate", w.GetStartDate())
	if err != nil {
		return civil.Range{}, err
	}
	last, err := readDate("window.endDate", w.GetEndDate())
	if err != nil {
		return civil.Range{}, err
	}
	days := civil.Through(from, last)
	if last < from || days.Empty() {
		return civil.Range{}, fault.Invalid(codeWindow, "window.endDate must not be before startDate.")
	}
	return days, windowDays.Check(days.Days())
}

func readDate(path, text string) (civil.Date, error) {
	if text == "" {
		return 0, patterndefinition.Missing(path)
	}
	date, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
	}
	return date.Clamp(), nil
}

// defaultWindow returns the window of a request that names none: it begins on the first day of the
// change, or today if the change affects no day.
func defaultWindow(change civil.Range, today civil.Date) civil.Range {
	from := today
	if !change.Empty() {
		from = change.From
	}
	from = min(from, civil.Forever.AddDays(-defaultDays))
	return civil.Range{From: from, To: from.AddDays(defaultDays)}
}

func windowMessage(days civil.Range) *schedulingv1.PreviewWindow {
	return &schedulingv1.PreviewWindow{StartDate: days.From.String(), EndDate: days.To.AddDays(-1).String()}
}
