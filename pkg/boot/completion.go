package boot

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// CompletionCommand prints a script that completes the command line in a shell.
type CompletionCommand struct {
	Shell string `arg:"" enum:"bash,zsh" help:"The shell: ${enum}. For example, add this line to ~/.bashrc: source <(rotaloom completion bash)"`
}

// AfterApply prints the script and ends the program.
func (c CompletionCommand) AfterApply(app *kong.Kong) error {
	if c.Shell == "zsh" {
		// The completion of zsh can run scripts for bash.
		fmt.Fprint(app.Stdout, "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n")
	}
	if err := writeCompletion(app.Stdout, app.Model); err != nil {
		return err
	}
	app.Exit(exitOK)
	return nil
}

// writeCompletion writes a script for bash. It follows the commands on the line to the last one,
// and offers its subcommands and flags. Otherwise it offers files.
func writeCompletion(w io.Writer, app *kong.Application) error {
	var known, offered, values strings.Builder
	var visit func(node *kong.Node, path string, above []string)
	visit = func(node *kong.Node, path string, above []string) {
		words := append([]string{}, above...)
		for _, flag := range node.Flags {
			if flag.Hidden {
				continue
			}
			words = append(words, "--"+flag.Name)
			if value := fmt.Sprintf("    *%q) words=%q ;;\n", " --"+flag.Name, strings.ReplaceAll(flag.Enum, ",", " ")); flag.Enum != "" && !strings.Contains(values.String(), value) {
				values.WriteString(value)
			}
		}
		flags := words
		for _, child := range node.Children {
			if child.Hidden || child.Type != kong.CommandNode {
				continue
			}
			words = append(words, child.Name)
			fmt.Fprintf(&known, "      %q) path=\"$path $word\" ;;\n", path+" "+child.Name)
		}
		for _, argument := range node.Positional {
			if argument.Enum != "" {
				words = append(words, strings.Split(argument.Enum, ",")...)
			}
		}
		fmt.Fprintf(&offered, "    %q) words=%q ;;\n", path, strings.Join(words, " "))
		for _, child := range node.Children {
			visit(child, path+" "+child.Name, flags)
		}
	}
	visit(app.Node, "", nil)
	name := "_" + strings.ReplaceAll(app.Name, "-", "_")
	_, err := fmt.Fprintf(w, `# Completion of %[1]s for bash.
%[2]s() {
  local word path="" words="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    case "$path $word" in
%[3]s    esac
  done
  case "$path" in
%[4]s  esac
  case " ${COMP_WORDS[COMP_CWORD-1]}" in
%[5]s  esac
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
  return 0
}
complete -o default -F %[2]s %[1]s
`, app.Name, name, known.String(), offered.String(), values.String())
	return err
}
