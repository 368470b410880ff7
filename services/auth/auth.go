// Package auth is the service that authenticates: it stores users' credentials, clients, token families and the
// keys that sign tokens.
package auth

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/client"
	"github.com/rotaloom/rotaloom/services/auth/internal/directory"
	"github.com/rotaloom/rotaloom/services/auth/internal/federation"
	"github.com/rotaloom/rotaloom/services/auth/internal/loginlimit"
	"github.com/rotaloom/rotaloom/services/auth/internal/password"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/sandbox"
	"github.com/rotaloom/rotaloom/services/auth/internal/scopes"
	"github.com/rotaloom/rotaloom/services/auth/internal/signing"
	"github.com/rotaloom/rotaloom/services/auth/internal/token"
	"github.com/rotaloom/rotaloom/services/auth/internal/user"
	"github.com/rotaloom/rotaloom/services/auth/migrations"
)

// Config is the configuration of the service. The zero value of each field is valid.
type Config struct {
	authn.TokenSettings

	TokenLife time.Duration `name:"token-life" default:"30m" help:"Lifetime of access tokens."`
	// SigningKeyLife is how long a signing key is used, from its first token to the end of the last one; 0
	// means 90 days.
	SigningKeyLife time.Duration `name:"signing-key-life" default:"2160h" help:"How long a signing key is used. The next key is published before its first token."`
	// KeyEncryptionFile and KeyEncryptionKey contain the key that encrypts signing keys in the database. If
	// both are set, the file is used.
	KeyEncryptionFile string     `name:"key-encryption-file" type:"path" help:"File with the key that encrypts signing keys in the database: 32 random bytes in base64. Further lines are earlier keys."`
	KeyEncryptionKey  obs.Secret `name:"key-encryption-key" help:"The same keys as a value instead of a file. Prefer the environment variable to the flag."`
	// AllowPlainSigningKeys makes CheckKeyEncryption accept a missing key.
	AllowPlainSigningKeys bool `name:"allow-plain-signing-keys" help:"Store signing keys in the database without encryption. Anyone who can read the database can then sign tokens."`
	// With HashMemory and HashTime, a hash takes about 20 ms and 19 MiB (OWASP's recommendation).
	HashMemory      uint32            `name:"password-memory" default:"19456" help:"Memory of one password hash in KiB."`
	HashTime        uint32            `name:"password-time" default:"2" help:"Passes of one password hash."`
	HashConcurrency int               `name:"password-concurrency" default:"0" help:"Number of password hashes that run at a time; 0 means one for each processor."`
	HashQueue       int               `name:"password-queue" default:"256" help:"Number of log-ins that wait for their password hash; further ones are refused with 503."`
	LoginLimit      loginlimit.Config `embed:""`
	Directory       directory.Config  `embed:""`
	// Federation configures the access to identity providers.
	Federation federation.Config `embed:""`
	// PublicURL is the address of the edge for clients.
	PublicURL         string `name:"public-url" help:"Address of the edge for clients, https://host, for OpenID discovery. When empty, the host name of each request is used, which must belong to a tenant or be this machine."`
	ClientCredentials bool   `name:"client-credentials" default:"true" negatable:"" help:"Serve the grant client_credentials to clients that have clientGrant set, which is off by default."`
	// DefaultAuthChain is the chain of token requests that name no chain. If it is empty, requests must name
	// one.
	DefaultAuthChain string `name:"default-auth-chain" default:"" enum:",OAuthLdapService" help:"The auth_chain of token requests without one: OAuthLdapService. When empty, such requests are refused."`
	// RevocationReplicas is the number of NATS servers that store the bucket of revoked tokens.
	RevocationReplicas int `name:"revocation-replicas" default:"1" help:"Number of NATS servers that store the list of revoked tokens; use 3 in a cluster."`
}

// Deps are the dependencies of the service.
type Deps struct {
	// Backends has the pool on the service's own database. NATS tells other processes of revocations at once.
	// Without it, they find revocations by polling.
	serve.Backends
	// Permissions are all permissions of the contracts. Access profiles select from them.
	Permissions []string
	// OwnRecordActions are all actions on one's own record in the contracts.
	OwnRecordActions []string
}

// Service is the auth service.
type Service struct {
	serve.Registrations

	pool       *pg.Pool
	log        *slog.Logger
	clock      clock.Clock
	keys       *signing.Keys
	wraps      bool
	hasher     *password.Hasher
	tokens     *token.Handler
	users      *user.Handler
	revoked    *revoked.Store
	loginLimit *loginlimit.Limiter
	// publisher is nil without NATS.
	publisher *revoked.Publisher
	keySource *authn.KeySet
	clocks    *tenantclock.Clocks
}

// Migrations returns the migrations of the service's schema.
func Migrations() ([]pg.Migrations, error) {
	return []pg.Migrations{restore.Migrations(), audit.Migrations(), {Table: "auth_version", FS: migrations.FS}}, nil
}

// New returns the service. It does not access the database.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	cfg = cfg.withDefaults()
	hasher, err := password.New(password.Params{Memory: cfg.HashMemory, Time: cfg.HashTime, Threads: 1}, cfg.HashConcurrency, cfg.HashQueue)
	if err != nil {
		return nil, err
	}
	wrapper, err := cfg.wrapper()
	if err != nil {
		return nil, err
	}
	keys, err := signing.New(deps.Pool, deps.Clock, signing.Config{TokenLife: cfg.TokenLife, Life: cfg.SigningKeyLife, KeySetLife: cfg.KeySetLife}, wrapper)
	if err != nil {
		return nil, err
	}
	s := &Service{keys: keys, wraps: wrapper != nil, pool: deps.Pool, log: deps.Log, clock: deps.Clock, hasher: hasher, revoked: revoked.NewStore(deps.Pool, deps.Clock, deps.Log)}
	s.clocks = tenantclock.New(sandbox.Ask(deps.Pool))
	s.keySource = authn.NewKeySet(func(ctx context.Context) (*jose.JSONWebKeySet, error) {
		return keys.Public(ctx)
	}, deps.Clock, cfg.KeySetLife)
	// A token can be one of ours even if it is revoked.
	ours, err := authn.NewVerifier(cfg.tokens(), s.keySource, authn.NoRevocations{}, deps.Clock)
	if err != nil {
		return nil, err
	}
	ldap, err := directory.New(cfg.Directory)
	if err != nil {
		return nil, err
	}
	identityProviders, err := federation.New(cfg.Federation, federation.Deps{
		Pool: deps.Pool, Clock: deps.Clock, Log: deps.Log, Issuer: cfg.Issuer, Permissions: deps.Permissions,
	})
	if err != nil {
		return nil, err
	}
	s.loginLimit = loginlimit.New(cfg.LoginLimit, deps.Pool, deps.Clock, deps.Log)
	catalog := scopes.NewCatalog(deps.Permissions)
	s.tokens = token.New(
		token.Config{
			Issuer: cfg.Issuer, Audience: cfg.Audience, Life: cfg.TokenLife, PublicURL: cfg.PublicURL,
			ClientCredentials: cfg.ClientCredentials, DefaultAuthChain: cfg.DefaultAuthChain,
		},
		token.Deps{
			Pool: deps.Pool, Keys: keys, Hasher: hasher, Log: deps.Log, Clock: deps.Clock,
			Scopes: catalog, Verifier: ours, Revoked: s.revoked, LoginLimit: s.loginLimit, Directory: ldap, Federation: identityProviders,
		})
	s.users = user.New(user.Deps{
		Pool: deps.Pool, Hasher: hasher, Clock: deps.Clock, Clocks: s.clocks, Revoked: s.revoked, LoginLimit: s.loginLimit, Permissions: deps.Permissions,
	})
	s.Registrations = serve.Registrations{
		serve.Handle(authv1.RegisterTokenServiceServer)(s.tokens),
		serve.Handle(authv1.RegisterFederationServiceServer)(s.tokens),
		serve.Handle(authv1.RegisterIdentityProviderServiceServer)(identityProviders),
		serve.Handle(authv1.RegisterUserServiceServer)(s.users),
		serve.Handle(authv1.RegisterAccessProfileServiceServer)(profile.NewHandler(deps.Pool, deps.Clock, s.revoked, deps.Permissions, deps.OwnRecordActions)),
		serve.Handle(authv1.RegisterClientServiceServer)(client.New(client.Deps{
			Pool: deps.Pool, Clock: deps.Clock, Revoked: s.revoked, Scopes: catalog, Permissions: deps.Permissions,
		})),
		serve.Handle(authv1.RegisterRevocationServiceServer)(revoked.NewHandler(s.revoked)),
		serve.Handle(authv1.RegisterTenantClockServiceServer)(sandbox.New(deps.Pool, deps.Clock, s.users)),
	}
	if deps.NATS != nil {
		s.publisher = revoked.NewPublisher(s.revoked, deps.NATS, cfg.TokenLife, cfg.RevocationReplicas, deps.Log)
	}
	return s, nil
}

// CheckKeyEncryption returns an error that says what to do if the key that encrypts signing keys is invalid, or
// if there is none and AllowPlainSigningKeys is not set.
func (c Config) CheckKeyEncryption() error {
	if wrapper, err := c.wrapper(); err != nil || wrapper != nil || c.AllowPlainSigningKeys {
		return err
	}
	return errors.New("there is no key that encrypts the signing keys in the database: create one (openssl rand -base64 32), " +
		"pass the file with --key-encryption-file or the key as ROTALOOM_KEY_ENCRYPTION_KEY to each process of auth, and keep a copy; " +
		"or set --allow-plain-signing-keys")
}

// wrapper returns the wrapper that encrypts signing keys, or nil.
func (c Config) wrapper() (signing.Wrapper, error) {
	switch {
	case c.KeyEncryptionFile != "":
		return signing.ReadLocalWrapper(c.KeyEncryptionFile)
	case c.KeyEncryptionKey != "":
		return signing.NewLocalWrapper(c.KeyEncryptionKey.Reveal())
	}
	return nil, nil
}

func (c Config) withDefaults() Config {
	c = defaults.Fill(c)
	c.TokenSettings = defaults.Fill(c.TokenSettings)
	c.HashConcurrency = cmp.Or(c.HashConcurrency, runtime.GOMAXPROCS(0))
	return c
}

func (c Config) tokens() authn.Config { return authn.Config{Issuer: c.Issuer, Audience: c.Audience} }

// Key returns a public key by its id. With it, Service is an authn.KeySource: the service verifies tokens with
// its own keys.
func (s *Service) Key(ctx context.Context, kid string) (crypto.PublicKey, error) {
	return s.keySource.Key(ctx, kid)
}

// Revoked reports whether the principal's token is revoked, according to the database. With it, Service is the
// authn.Revocations of its own process.
func (s *Service) Revoked(ctx context.Context, p *authn.Principal) (bool, error) {
	return s.revoked.Revoked(ctx, p)
}

// Exchange returns a token of this server for a token of an identity provider, so that the service does not
// call itself for that. It is an authn.Exchange.
func (s *Service) Exchange(ctx context.Context, token string) (string, error) {
	return s.tokens.Exchange(ctx, token)
}

// Clocks returns the clocks of tenants, according to the database.
func (s *Service) Clocks() *tenantclock.Clocks { return s.clocks }

// Run does the background work until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if !s.wraps {
		s.log.WarnContext(ctx, "signing keys are stored without encryption, so anyone who can read the database can sign tokens: set --key-encryption-file")
	}
	group.Go(func() error { return s.keys.Run(ctx, s.log) })
	group.Go(func() error { return s.tokens.Run(ctx) })
	group.Go(func() error { return s.revoked.Run(ctx) })
	group.Go(func() error { return s.loginLimit.Run(ctx) })
	group.Go(func() error { return s.users.Run(ctx, s.log) })
	if s.publisher != nil {
		group.Go(func() error { return s.publisher.Run(ctx) })
	}
	return group.Wait()
}

// ContinuesWhileRestored marks the service as one that also runs while its database is being restored: it
// maintains keys and revocations, and removes expired rows.
func (s *Service) ContinuesWhileRestored() {}

// Check returns the reason why the service is not ready, or nil.
func (s *Service) Check(ctx context.Context) error {
	if err := serve.CheckSchema(ctx, s.pool, Migrations); err != nil {
		return err
	}
	// Without a signing key, users cannot log in.
	_, err := s.keys.Signer(ctx)
	return err
}
