# fish completion of sndpak. The words go to sndpak one by one, and a home folder or a variable in front
# of one is resolved: nothing on the line is evaluated, whatever the names in a pack look like.
function __sndpak_offer
    set -g __sndpak_offers
    set -l words
    for word in (commandline -opc)
        if not test -e "$word"
            set -l parts (string match -r '^(?:~|\$\{?(\w+)\}?)(/.*)?$' -- $word)
            if string match -q -- '~*' "$word"; and test (count $parts) -gt 0
                set word $HOME(string sub -s 2 -- $word)
            else if test (count $parts) -gt 1; and set -q $parts[2]
                set -l value $$parts[2]
                set word "$value[1]$parts[3]"
            end
        end
        set -a words $word
    end
    set -l begun (string unescape -- (commandline -ct))
    set -l lines ($words[1] __complete $words[2..-1] "$begun" 2>/dev/null)
    set -l directive (string match -r '^:\d+$' -- $lines[-1] | string sub -s 2)
    if test -z "$directive"; or test (math $directive % 2) = 1
        return 1
    end
    if test (math "floor($directive / 16) % 2") = 1
        set __sndpak_offers (__fish_complete_directories "$begun")
        return 0
    end
    set __sndpak_offers $lines[1..-2]
    if string match -q -- '-*=*' "$begun"; and not contains -- -- $words
        set __sndpak_offers (string replace -r '=.*' = -- "$begun")$__sndpak_offers
    end
    # Files come where there is nothing else and nothing says that there is to be nothing.
    test (count $__sndpak_offers) -gt 0; or test (math "floor($directive / 4) % 2") = 1
end
complete -c sndpak -e
complete -c sndpak -n __sndpak_offer -f -a '$__sndpak_offers'
