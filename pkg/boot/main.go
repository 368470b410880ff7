package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/alecthomas/kong"
	// Images have no files but the program: these authorities stand in where the machine has none.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tracing"
)

// Common are the settings of every program. A program embeds them in its own settings. Each setting
// is a flag (--admin-address), or else a variable (ROTALOOM_ADMIN_ADDRESS), or else a file
// (ROTALOOM_ADMIN_ADDRESS_FILE).
type Common struct {
	obs.LogConfig

	ConfigFile   ConfigFile     `name:"config" env:"ROTALOOM_CONFIG" help:"YAML file of settings, name: value. Flags and variables take precedence."`
	AdminAddress string         `default:"127.0.0.1:0" help:"Address of the listener for probes and metrics; port 0 means any free port, empty means no listener."`
	Admin        AdminConfig    `embed:""`
	Tracing      tracing.Config `embed:""`
	DrainDelay   time.Duration  `default:"0s" help:"Time between the end of readiness and the end of accepting requests."`
	StopTimeout  time.Duration  `default:"20s" help:"Time limit for the parts of a stage to stop. Running requests have one second less."`

	// It has no variable: deployments store their own version in ROTALOOM_VERSION.
	PrintVersion VersionFlag `name:"version" env:"-" help:"Print the version and end."`
}

func (c *Common) common() *Common { return c }

// Settings are the settings of a program: a pointer to a struct that embeds Common, with the tags
// of kong.
type Settings interface {
	common() *Common
}

// Start builds the parts of a program and adds them to app. It waits only for dependencies; ctx
// ends when the program must stop.
type Start func(ctx context.Context, app *App) error

// Exit codes of a program.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	// exitFound is the exit code of a check that found a problem.
	exitFound = 3
)

// Main runs a program: it reads the settings, starts the parts, and stops them in order at the
// first SIGINT or SIGTERM. A second signal ends the process at once. Main does not return.
func Main(name, description string, settings Settings, start Start) {
	memory := tuneCollector(memlimit.FromCgroup)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	p := program{
		name: name, description: description, args: os.Args[1:], out: os.Stdout, errs: os.Stderr,
		signals: signals, exit: os.Exit, memory: memory, lookup: os.LookupEnv, environ: os.Environ(),
	}
	os.Exit(p.run(settings, start))
}

// program is a run of Main, without the process around it.
type program struct {
	name, description string
	args              []string
	out, errs         io.Writer
	signals           <-chan os.Signal
	exit              func(code int)
	memory            error // the error of setting the memory limit
	lookup            func(variable string) (string, bool)
	environ           []string      // all variables, as name=value
	unknown           []string      // the names of unknown variables, from the last parse
	config            *configValues // from the last parse
}

func (p *program) run(settings Settings, start Start) int {
	parsed, code := p.parse(settings)
	if parsed == nil {
		return code
	}
	var err error
	if config, asked := chosenCommand[*ConfigCommand](parsed); asked {
		return p.printConfig(settings, config)
	}
	if task := chosenTask(parsed); task != nil {
		err = p.do(*settings.common(), task)
	} else {
		err = p.serve(*settings.common(), start)
	}
	if err != nil {
		fmt.Fprintf(p.errs, "%s: %s\n", p.name, oneLine(err))
		return exitCode(err)
	}
	return exitOK
}

// exitCode returns the exit code of a program that ends with an error.
func exitCode(err error) int {
	if found := new(CheckFailed); errors.As(err, &found) {
		return exitFound
	}
	return exitFailed
}

// oneLine joins the lines of an error text. Errors of drivers and joined errors have several lines.
func oneLine(err error) string {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
}

// parse reads the settings. It returns nil if the program must end, because the user asked for help
// or a setting is invalid.
func (p *program) parse(settings Settings) (parsed *kong.Context, code int) {
	asked := false
	p.config = &configValues{lookup: p.lookup}
	parser, err := kong.New(settings,
		kong.Name(p.name), kong.Description(p.description), kong.DefaultEnvars("ROTALOOM"), groupFlagsByWord(), kong.Resolvers(fileSettings(p.lookup)), kong.Bind(p.config),
		kong.Writers(p.out, p.errs), kong.Exit(func(int) { asked = true }))
	if err != nil {
		fmt.Fprintf(p.errs, "%s: %v\n", p.name, err)
		return nil, exitUsage
	}
	parsed, err = parser.Parse(p.args)
	if asked {
		return nil, exitOK
	}
	if err != nil {
		fmt.Fprintf(p.errs, "%s: %v\nSee %s --help.\n", p.name, err, p.name)
		return nil, exitUsage
	}
	p.unknown = unknownVariables(parser.Model.Node, p.environ)
	return parsed, exitOK
}

// printConfig prints the effective settings of the command that follows config.
func (p *program) printConfig(settings Settings, config *ConfigCommand) int {
	var output Output
	p.args, output = config.split(p.args)
	parsed, code := p.parse(settings)
	if parsed == nil {
		return code
	}
	if err := writeEffective(p.out, output, effectiveSettings(parsed, p.config)); err != nil {
		fmt.Fprintf(p.errs, "%s: %s\n", p.name, oneLine(err))
		return exitFailed
	}
	return exitOK
}

func (p *program) serve(cfg Common, start Start) (err error) {
	log, ctx, end, err := p.begin(cfg)
	if err != nil {
		return err
	}
	defer end()
	if p.memory != nil {
		log.Warn("the memory limit of the container cannot be read, so no limit applies; set GOMEMLIMIT", "error", p.memory)
	}

	for _, name := range p.unknown {
		log.Warn("the program has no such setting, so the variable has no effect; see --help", "variable", name)
	}

	app := NewApp(cfg, log, obs.NewRegistry())
	app.Out = p.out
	traced, err := tracing.Start(ctx, cfg.Tracing, p.name, log)
	if err != nil {
		return err
	}
	app.OnClose("tracing", traced)
	if err := app.Registry.Register(buildInfo()); err != nil {
		return err
	}
	var admin net.Addr
	if cfg.AdminAddress != "" {
		at, stop, err := serveAdmin(cfg.AdminAddress, AdminHandler(cfg.Admin, app.Ready, app.Registry))
		if err != nil {
			return err
		}
		defer stop()
		admin, app.AdminURL = at, "http://"+at.String()
	}
	if err := start(ctx, app); err != nil {
		closing := app.Close()
		if ctx.Err() != nil {
			return closing // The program was stopped during the start, which then failed.
		}
		return errors.Join(fmt.Errorf("starting: %w", err), closing)
	}
	if admin != nil {
		// Log this late, so that a failed start prints only its reason.
		log.Info("admin listener", "address", admin.String())
	}
	return app.Run(ctx)
}

// begin returns the program's log, and a context that ends with the first signal. Call end when the
// program ends.
func (p *program) begin(cfg Common) (log *slog.Logger, ctx context.Context, end func(), err error) {
	if log, err = obs.NewLogger(p.errs, cfg.LogConfig); err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	finished := make(chan struct{})
	go p.watchSignals(cancel, finished)
	return log, ctx, func() { close(finished); cancel() }, nil
}

// watchSignals stops the program at the first signal, and ends it at the second.
func (p *program) watchSignals(stop func(), finished <-chan struct{}) {
	for count := 0; ; count++ {
		select {
		case <-finished:
			return
		case <-p.signals:
		}
		if count > 0 {
			p.exit(exitFailed)
			return
		}
		stop()
	}
}
