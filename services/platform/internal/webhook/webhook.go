// Package webhook stores the webhooks of tenants, and delivers messages to them, signed according to the
// Standard Webhooks specification.
package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/genericnotification"
)

// Codes of this product.
const (
	// CodeInvalid (400): the value of a property is invalid.
	CodeInvalid = "WRL-60701"
	// CodeMissing (400): a required property is missing.
	CodeMissing = "WRL-60702"
	// CodeTaken (409): another webhook has the name. Choose another name.
	CodeTaken = "WRL-60703"
	// CodeUnknown (404): there is no such webhook.
	CodeUnknown = "WRL-60704"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WRL-60705"
	// CodeTooMany (409): the tenant has 50 webhooks, which is the limit. Delete one first.
	CodeTooMany = "WRL-60706"
	// CodeVisibility (403): the caller does not see all employees, and a webhook receives the messages about
	// all of them. Ask an administrator who sees all employees.
	CodeVisibility = "WRL-60707"
)

const (
	maxWebhooks = 50
	maxURL      = 2000
	secretBytes = 32
	// formerFor is how long requests are also signed with the former secret.
	formerFor = 24 * time.Hour
)

// Handler serves WebhookService.
type Handler struct {
	platformv1.UnsafeWebhookServiceServer
	resource setup.Resource[*platformv1.Webhook]
	guard    guard
	clock    clock.Clock
	rules    *rowvisibility.Rules
}

var _ platformv1.WebhookServiceServer = (*Handler)(nil)

// Config determines the permitted networks and certificates of webhooks.
type Config struct {
	Networks []string `help:"Non-public networks (CIDR) in which webhooks are permitted: 10.1.0.0/16."`
	CAFile   string   `name:"ca-file" type:"path" help:"File with additional CA certificates for webhooks (PEM)."`
}

// New returns a Handler, which only serves callers who see all employees according to the rules. It returns an
// error for invalid networks.
func New(cfg Config, pool *pg.Pool, rules *rowvisibility.Rules, clk clock.Clock) (*Handler, error) {
	guard, err := newGuard(cfg.Networks)
	if err != nil {
		return nil, err
	}
	h := &Handler{guard: guard, clock: clk, rules: rules}
	h.resource = setup.Resource[*platformv1.Webhook]{Kind: kind(), Pool: pool, Prepare: h.prepare, Check: h.checkNumber, AfterStore: h.storeSecret}
	return h, nil
}

func kind() *setup.Kind[*platformv1.Webhook] {
	return setup.NewKind(setup.Declaration[*platformv1.Webhook]{
		Codes:      setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, TakenConflicts: true, Unknown: CodeUnknown, OtherID: CodeOtherID},
		What:       "webhook",
		Table:      "webhook",
		Strip:      func(w *platformv1.Webhook) { w.Secret = "" },
		References: []setup.Reference{{Field: "notifications", To: genericnotification.Kind()}},
	})
}

// prepare validates a webhook and sets the defaults. The addresses of host names are checked when a connection
// is made.
func (h *Handler) prepare(_ string, w *platformv1.Webhook) (*platformv1.Webhook, error) {
	to, err := url.Parse(w.GetUrl())
	switch {
	case w.GetUrl() == "":
		return nil, fault.Invalid(CodeMissing, "url is missing.")
	case err != nil || to.Scheme != "https" || to.Hostname() == "" || to.User != nil || to.Fragment != "" || len(w.GetUrl()) > maxURL:
		return nil, fault.Invalid(CodeInvalid, fmt.Sprintf("url must be https://, with a host, without a user or a fragment, and have at most %d characters.", maxURL))
	}
	if ip, err := netip.ParseAddr(to.Hostname()); err == nil {
		if err := h.guard.check(ip); err != nil {
			return nil, fault.Invalid(CodeInvalid, "url: "+err.Error()+".")
		}
	}
	if w.Active == nil {
		w.Active = proto.Bool(true)
	}
	return w, nil
}

const webhooks advisory.Lock = "number of webhooks"

// checkNumber limits the number of webhooks of a tenant.
func (h *Handler) checkNumber(ctx context.Context, tx pgx.Tx, id int64, _ *platformv1.Webhook) error {
	if id != 0 {
		return nil
	}
	if err := webhooks.Wait(ctx, tx); err != nil {
		return err
	}
	all, err := kind().All(ctx, tx)
	if err == nil && len(all) >= maxWebhooks {
		err = fault.Conflict(CodeTooMany, fmt.Sprintf("There may be at most %d webhooks. Delete one first.", maxWebhooks))
	}
	return err
}

// storeSecret generates and stores the secret of a new webhook.
func (h *Handler) storeSecret(ctx context.Context, tx pgx.Tx, _, stored *platformv1.Webhook) error {
	if stored.GetVersion() != 1 {
		return nil
	}
	stored.Secret = newSecret()
	_, err := tx.Exec(ctx, `UPDATE webhook SET secret = $3 WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), stored.GetId(), stored.GetSecret())
	return err
}

func newSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // rand.Read never fails.
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// requireEverybody refuses callers who do not see all employees: a webhook receives messages about all
// employees, and its URL and its secret would let others read and send them.
func (h *Handler) requireEverybody(ctx context.Context) error {
	visible, err := h.rules.Visible(ctx)
	if err != nil {
		return err
	}
	if !visible.Own().All() {
		return fault.Forbidden(CodeVisibility, "Webhooks receive messages about all employees, and you do not see all of them. Ask an administrator who sees all employees.")
	}
	return nil
}

// ListWebhooks returns all webhooks, sorted by name.
func (h *Handler) ListWebhooks(ctx context.Context, _ *platformv1.ListWebhooksRequest) (*platformv1.WebhookList, error) {
	if err := h.requireEverybody(ctx); err != nil {
		return nil, err
	}
	list, err := h.resource.List(ctx, nil, nil)
	return &platformv1.WebhookList{Items: list}, err
}

// GetWebhook returns one webhook, or 404.
func (h *Handler) GetWebhook(ctx context.Context, req *platformv1.GetWebhookRequest) (*platformv1.Webhook, error) {
	if err := h.requireEverybody(ctx); err != nil {
		return nil, err
	}
	return h.resource.Get(ctx, req.GetId())
}

// CreateWebhook stores a new webhook, and returns its secret.
func (h *Handler) CreateWebhook(ctx context.Context, req *platformv1.Webhook) (*platformv1.Webhook, error) {
	if err := h.requireEverybody(ctx); err != nil {
		return nil, err
	}
	return h.resource.Create(ctx, req)
}

// UpdateWebhook replaces a webhook.
func (h *Handler) UpdateWebhook(ctx context.Context, req *platformv1.UpdateWebhookRequest) (*platformv1.Webhook, error) {
	if err := h.requireEverybody(ctx); err != nil {
		return nil, err
	}
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteWebhook deletes a webhook, or returns 404.
func (h *Handler) DeleteWebhook(ctx context.Context, req *platformv1.DeleteWebhookRequest) (*emptypb.Empty, error) {
	if err := h.requireEverybody(ctx); err != nil {
		return nil, err
	}
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// RotateWebhookSecret sets a new secret. The former secret remains valid for a day.
func (h *Handler) RotateWebhookSecret(ctx context.Context, req *platformv1.RotateWebhookSecretRequest) (*platformv1.Webhook, error) {
	if err := h.requireEverybody(ctx); err != nil {
		return nil, err
	}
	tenantID := tenant.Of(ctx)
	secret := newSecret()
	var w *platformv1.Webhook
	err := pg.InTx(ctx, h.resource.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if w, err = kind().GetForUpdate(ctx, tx, req.GetId()); err != nil {
			return err
		}
		if err := precondition.Check(ctx, fmt.Sprintf("webhook %d", req.GetId()), w.GetVersion()); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE webhook SET former_secret = secret, former_until = $4, secret = $3, version = version + 1 WHERE tenant_id = $1 AND id = $2`,
			tenantID, req.GetId(), secret, h.clock.Now().Add(formerFor))
		return err
	})
	if err != nil {
		return nil, err
	}
	w.Secret, w.Version = secret, proto.Int64(w.GetVersion()+1)
	return w, nil
}
